import { describe, expect, it } from 'vitest';
import { withoutSecrets } from '../../../src/domain/shared/redaction.js';
import { requestSecrets } from '../../../src/adapters/telemetry/request-scope.js';

const ID = 'Yk3vPz0aWq7Lr9TnB2dX';

describe('the secrets of a request', () => {
  it.each([
    ['the value of each cookie', { cookie: `theme=dark; sid=${ID}; other=0123456789` }, [ID, '0123456789']],
    ['also of cookies in several fields', { cookie: [`a=${ID}`, 'b=0123456789'] }, [ID, '0123456789']],
    ['a value without its quotes', { cookie: `sid="${ID}"` }, [ID]],
    ['a value with equals signs in it', { cookie: `sid=${ID}==` }, [`${ID}==`]],
    ['a value decoded', { cookie: 'user=ann%40shop.example%20x' }, ['ann@shop.example x']],
    ['a value that does not decode', { cookie: `sid=${ID}%E0%A4%A` }, [`${ID}%E0%A4%A`, ID]],
    ['the id inside a signed cookie', { cookie: `connect.sid=s%3A${ID}.c2lnbmF0dXJlLW9mLWl0` }, [ID]],
    ['the credential of the request', { authorization: `Bearer ${ID}` }, [ID]],
    ['in any case and any spacing', { authorization: `  bEARER   ${ID}` }, [ID]],
    [
      'the user and password behind it',
      { authorization: `Basic ${btoa('ann:pass-word')}` },
      ['ann:pass-word', 'pass-word'],
    ],
    ['a token in a session that is only encoded', { cookie: `s=${btoa(JSON.stringify({ token: ID }))}` }, [ID]],
  ])('include %s', (_what, headers, secrets) => {
    expect(requestSecrets(headers)).toEqual(expect.arrayContaining(secrets));
    for (const secret of secrets)
      expect(withoutSecrets(`no <${secret}> here`, requestSecrets(headers))).toBe('no <[redacted]> here');
  });

  it('are none without cookie and credential', () => {
    expect(requestSecrets({ 'user-agent': 'a browser', host: 'site.example' })).toEqual([]);
    expect(withoutSecrets('the session could not be read', requestSecrets({ cookie: 'a=1; b=; c' }))).toBe(
      'the session could not be read',
    );
  });
});
