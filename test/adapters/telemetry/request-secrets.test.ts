import { describe, expect, it } from 'vitest';
import { withoutSecrets } from '../../../src/domain/shared/redaction.js';
import { requestSecrets } from '../../../src/adapters/telemetry/request-scope.js';
import { processorTime } from '../../support/stopwatch.js';

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

describe('a secret in a text', () => {
  const odd = 'p&ss "word" \u00fc';

  it.each([
    encodeURIComponent(odd),
    'p%26ss+%22word%22+%C3%BC',
    'p%26ss+%22word%22+%c3%bc',
    JSON.stringify(odd).slice(1, -1),
    String.raw`p\u0026ss \"word\" \u00fc`,
    String.raw`p\u0026ss \u0022word\u0022 \u00FC`,
    'p&amp;ss &quot;word&quot; \u00fc',
    'p&#38;ss&#32;&#34;word&#34; &#xFC;',
    'p&#x26;ss &#x22;word&quot; &#xfc;',
    'p&ss%20"word&quot;+ü',
    odd,
  ])('is found in every spelling: %s', (spelling) => {
    expect(withoutSecrets(`<${spelling}>`, [odd])).toBe('<[redacted]>');
  });

  it('is found when its spellings share no part', () => {
    const signs = '&&&"<>\u20ac\ud83d\ude42\n/';
    for (const spelling of [signs, encodeURIComponent(signs), JSON.stringify(signs).slice(1, -1)]) {
      expect(withoutSecrets(`<${spelling}>`, [signs])).toBe('<[redacted]>');
    }
    expect(withoutSecrets(String.raw`\ud83d\uDE42 &amp;&&quot;&lt;&gt;€🙂`, ['&&"<>€🙂'])).toBe(
      String.raw`\ud83d\uDE42 [redacted]`,
    );
  });

  it('is matched literally, not as a pattern', () => {
    expect(withoutSecrets('abcdef (a+b)* $& [x]', ['.*.*.*', '(a+b)*', '$& [x]'])).toBe('abcdef [redacted] [redacted]');
  });

  it('is found in milliseconds among thousands', () => {
    const secrets = Array.from({ length: 4_000 }, (_, index) => `value/${String(index)}=&of a cookie`);
    const text = `<p>${'&amp;%20 '.repeat(500)}</p>`;
    expect(processorTime(() => withoutSecrets(text, secrets))).toBeLessThan(500);
  });

  it('can end in half a character', () => {
    expect(withoutSecrets('it was \ud800 broken', ['\ud800 broken'])).toBe('it was [redacted]');
  });
});
