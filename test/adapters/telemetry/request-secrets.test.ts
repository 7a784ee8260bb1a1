import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { withoutSecrets } from '../../../src/domain/shared/redaction.js';
import { redactingSessionSource, requestSecrets } from '../../../src/adapters/telemetry/request-scope.js';

const unlimited = <Result>(work: Promise<Result>): Promise<Result> => work;
const ID = 'Yk3vPz0aWq7Lr9TnB2dX';

describe('the secrets of a request', () => {
  it.each([
    ['the value of each cookie', { cookie: `theme=dark; sid=${ID}; other=0123456789` }, [ID, '0123456789']],
    ['also of cookies in several fields', { cookie: [`a=${ID}`, 'b=0123456789'] }, [ID, '0123456789']],
    ['a value without its quotes and spaces', { cookie: 'sid= "0123456789" ; b=c' }, ['0123456789']],
    ['a value with equals signs in it', { cookie: `sid=${ID}==` }, [`${ID}==`]],
    ['a value decoded', { cookie: 'user=ann%40shop.example%20x' }, ['ann@shop.example x']],
    ['a value that does not decode', { cookie: `sid=${ID}%E0%A4%A` }, [`${ID}%E0%A4%A`, ID]],
    ['the id inside a signed cookie', { cookie: `connect.sid=s%3A${ID}.c2lnbmF0dXJlLW9mLWl0` }, [ID]],
    ['the credential of the request', { authorization: `Bearer ${ID}` }, [ID]],
    ['in any case and any spacing', { authorization: '  bEARER   0123456789' }, ['0123456789']],
    ['the credentials of two fields', { authorization: [`Bearer ${ID}`, 'Basic x'] }, [ID]],
    ['a credential without a scheme', { authorization: ID }, [ID]],
    ['the tokens of Easy Auth', { 'x-ms-token-aad-refresh-token': `M.C5_${ID}` }, [`M.C5_${ID}`]],
    ['the token of a proxy', { 'x-forwarded-access-token': 'gho_8a1f' }, ['gho_8a1f']],
    ['keys in several fields', { 'x-api-key': ['0123456789', '9876543210'] }, ['0123456789', '9876543210']],
    ['a part of 16 characters', { cookie: 's=a.0123456789abcdef' }, ['0123456789abcdef']],
    [
      'the user and password behind it',
      { authorization: `Basic ${btoa('ann:pass-word')}` },
      ['ann:pass-word', 'pass-word'],
    ],
    [
      'a password in Latin-1',
      { authorization: `Basic ${btoa('jürgen:päss-word')}` },
      ['jürgen:päss-word', 'päss-word'],
    ],
    [
      'a password in UTF-8 behind a name that is not',
      {
        authorization: `Basic ${Buffer.from('6afc3a70c3a473732d776f7264', 'hex').toString('base64')}`,
      },
      ['päss-word'],
    ],
    [
      'a token in a session that is only encoded',
      { cookie: `s=${btoa(JSON.stringify({ token: ID })).replace('=', '')}` },
      [ID],
    ],
  ])('include %s', (_what, headers, secrets) => {
    expect(requestSecrets(headers)).toEqual(expect.arrayContaining(secrets));
    for (const secret of secrets)
      expect(withoutSecrets(`no <${secret}> here`, requestSecrets(headers))).toBe('no <[redacted]> here');
  });

  it('are none without cookie and credential', () => {
    expect(requestSecrets({ 'user-agent': 'a browser', host: 'site.example' })).toEqual([]);
    expect(
      withoutSecrets(
        'the session could not be read',
        requestSecrets({ cookie: 'a=1; b=; c; d=could%20session%20the' }),
      ),
    ).toBe('the session could not be read');
  });
});

describe('a session source that quotes the request', () => {
  const request = { headers: { cookie: `sid=${ID}` }, native: { request: undefined } };
  const quoting = Object.assign(new Error(`cannot open ${ID}`, { cause: ID }), { name: `Bad ${ID}` });
  const clean = { name: 'Bad [redacted]', message: 'cannot open [redacted]' };

  it('throws an error without the quote, and none with its stack or cause', async () => {
    const source = redactingSessionSource(
      {
        getToken: () => Promise.reject(quoting),
        sessionVersion: () => {
          throw Object.assign(new Error('cannot open'), { name: `Bad ${ID}` });
        },
      },
      unlimited,
    );
    expect(() => source.sessionVersion?.(request)).toThrow(
      expect.objectContaining({ ...clean, message: 'cannot open' }),
    );
    const error = await source.getToken(request, {}).catch((thrown: unknown) => thrown as Error);
    expect(error).toMatchObject(clean);
    expect(inspect(error)).not.toContain(ID);
  });

  it.each([new Error('the database is down'), 'a text', `sid ${ID}`])('throws %s itself', async (thrown) => {
    const source = redactingSessionSource({ getToken: () => Promise.reject(thrown as Error) }, unlimited);
    await expect(source.getToken(request, {})).rejects.toBe(thrown);
  });

  it.each([
    [{ kind: 'expired', log: `${ID} ended` } as const, { kind: 'expired', log: '[redacted] ended' }],
    [{ kind: 'expired' } as const, { kind: 'expired' }],
    [{ kind: 'token', accessToken: ID } as const, { kind: 'token', accessToken: ID }],
  ])('returns %j as %j', async (found, answer) => {
    const source = redactingSessionSource({ getToken: () => Promise.resolve(found) }, unlimited);
    expect(await source.getToken(request, {})).toEqual(answer);
  });

  it('keeps its other properties, and has none that the source lacks', () => {
    const getToken = () => Promise.resolve({ kind: 'no-session' } as const);
    const facts = { name: 'staff', sessionCookies: ['sid'], sessionInCookie: true };
    const source = redactingSessionSource({ getToken, ...facts, sessionVersion: () => 'v7' }, unlimited);
    expect(source).toMatchObject(facts);
    expect(source.sessionVersion?.(request)).toBe('v7');
    expect(Object.keys(redactingSessionSource({ getToken }, unlimited))).toEqual(['sessionVersion', 'getToken']);
  });
});
