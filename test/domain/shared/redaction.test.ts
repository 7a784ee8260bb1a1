import { describe, expect, it } from 'vitest';
import { redactor, withoutSecrets } from '../../../src/domain/shared/redaction.js';
import { processorTime } from '../../support/stopwatch.js';

const JWT = 'eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJhIn0.c2lnbmF0dXJl';

describe('redaction', () => {
  it.each([
    ['a secret of the configuration', 'refused "p&ss word"', 'refused "[redacted]"'],
    ['it in a form body', 'body: password=p%26ss+word', 'body: password=[redacted]'],
    ['it in an address', '/token?password=p%26ss%20word', '/token?password=[redacted]'],
    ['a token', `sent ${JWT}`, 'sent [redacted]'],
    ['a token behind a hyphen', `sent id-${JWT}, ${JWT}`, 'sent id-[redacted], [redacted]'],
    ['an encrypted token', 'sent eyJhbGciOiJkaXIifQ..aXY.Y2lwaGVy.dGFn.', 'sent [redacted].'],
    ['a credential in a field', 'Authorization: Bearer abcdefgh1234', 'Authorization: Bearer [redacted]'],
    ['a credential after several blanks', 'bearer  abcdefgh1234', 'bearer  [redacted]'],
    ['a key', '-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY----- ok', '[redacted] ok'],
    ['a key that was cut', 'x -----BEGIN RSA PRIVATE KEY-----\\nMIIE', 'x [redacted]'],
    ['a line break that forges a log line', 'a\r\n2026-11-21 error: b\u2028c', 'a 2026-11-21 error: b c'],
    ['a command to the terminal', 'a\u001b[2Jb\u009bc', String.raw`a\u001b[2Jb\u009bc`],
    [
      'characters that reverse the line',
      'for \u202enimda\u202c, \u2067x\u2069\u200f',
      String.raw`for \u202enimda\u202c, \u2067x\u2069\u200f`,
    ],
    ['no letters of other scripts', 'naïve 文件 हिन्दी 👩‍💻 شكرا', 'naïve 文件 हिन्दी 👩‍💻 شكرا'],
  ])('replaces %s', (_what, text, clean) => {
    expect(redactor(['p&ss word', ''])(text)).toBe(clean);
  });

  it('ends a text after 2,048 characters', () => {
    expect(redactor([])(`${'a'.repeat(2_048)}b`)).toBe('a'.repeat(2_048));
  });

  it('replaces the longer secret whole and leaves short words alone', () => {
    expect(redactor(['secret-1', 'secret-1-and-more', 'api'])('secret-1-and-more of the api')).toBe(
      '[redacted] of the api',
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

  it.each<[string, (text: string) => string]>([
    ['JSON inside JSON', (text) => JSON.stringify(JSON.stringify(text))],
    ['an address inside an address', (text) => encodeURIComponent(encodeURIComponent(text))],
    ['entities inside entities', (text) => text.replaceAll('&', '&amp;amp;').replaceAll('"', '&amp;quot;')],
    ['entities inside JSON', (text) => JSON.stringify(text.replaceAll('&', '&#38;').replaceAll('"', '&#x22;'))],
    [
      'bytes as a program prints them',
      (text) => text.replaceAll('"', String.raw`\x5cx22`).replaceAll('&', String.raw`\x26`),
    ],
    ['UTF-16', (text) => text.replace(/./gsu, '$&\0')],
    ['characters without width', (text) => text.replace(/./gsu, '$&\u200b')],
    ['two lines of a folded field', (text) => `${text.slice(0, 6)}\r\n ${text.slice(6)}`],
  ])('is found in %s', (_where, write) => {
    const secret = `${odd}\\"end`;
    const text = withoutSecrets(`before, ${write(secret)}, after`, [secret]);
    expect(text).toMatch(/^before, \W*\[redacted\]\W*, after$/);
  });

  it('leaves blanks and encodings around it as they are', () => {
    expect(withoutSecrets('a%20b  secret-1  c&amp;d\u200b', ['secret-1'])).toBe('a%20b  [redacted]  c&amp;d\u200b');
  });

  it('is found in a long text, which is cut before half of it', () => {
    const filler = 'word '.repeat(3_200);
    expect(redactor(['half-of-a-secret'])(`secret-1 ${filler}`, ['secret-1'])).toMatch(/^\[redacted\] word/);
    for (let length = 370; length < 400; length += 1) {
      const text = `${filler}${'x'.repeat(length)} half-of-a-secret and more`;
      expect(withoutSecrets(text, ['half-of-a-secret'])).not.toContain('half');
    }
  });

  it('is found when its spellings share no part', () => {
    const signs = '&&&"<>\u20ac\ud83d\ude42\n/';
    const ascii = String.raw`&&&\"<>\u20ac\ud83d\ude42\n/`;
    for (const spelling of [signs, encodeURIComponent(signs), JSON.stringify(signs).slice(1, -1), ascii]) {
      expect(withoutSecrets(`<${spelling}>`, [signs])).toBe('<[redacted]>');
    }
    expect(withoutSecrets(String.raw`\ud83d\uDE42 &amp;&&quot;&lt;&gt;&apos;€🙂`, ['&&"<>\'€🙂'])).toBe(
      String.raw`\ud83d\uDE42 [redacted]`,
    );
  });

  it('is found as often as it occurs', () => {
    expect(withoutSecrets(`${odd}, ${encodeURIComponent(odd)}`, [odd])).toBe('[redacted], [redacted]');
  });

  it('is matched literally, not as a pattern', () => {
    expect(withoutSecrets('one+two', ['one/two'])).toBe('one+two');
    expect(withoutSecrets('abcdef (a+b)* $& [x]', ['.*.*.*', '(a+b)*', '$& [x]'])).toBe('abcdef [redacted] [redacted]');
  });

  it.each<[string, readonly string[], string]>([
    [
      'among thousands',
      Array.from({ length: 4_000 }, (_, index) => `value/${String(index)}=&of a cookie`),
      `<p>${'&amp;%20 '.repeat(500)}</p>`,
    ],
    [
      'among a thousand short ones of signs',
      Array.from({ length: 1_300 }, (_, index) => `!${String(index)}!!!!!`),
      '!'.repeat(13_000),
    ],
    ['that is as long as all cookies', ['!'.repeat(13_000)], `<${'!'.repeat(12_999)}>`],
    ['that repeats itself', ['aaaaaa', 'aaaaaaa'], 'a'.repeat(300_000)],
    ['before a thousand beginnings of a token', [], '-eyJ'.repeat(60_000)],
    ['before a thousand beginnings of a key', [], '-----BEGIN PRIVATE KEY'.repeat(10_000)],
    ['in layers of encodings', ['p&ss "word"'], '%252525252526'.repeat(20_000)],
  ])('is looked for in milliseconds %s', (_how, secrets, text) => {
    expect(processorTime(() => redactor(secrets)(text, secrets))).toBeLessThan(500);
  });

  it.each(['\ud800 broken', String.raw`\ud800 broken`, '%EF%BF%BD+broken', '&#xd800;&#x20;broken'])(
    'can contain half a character: %j',
    (spelling) => {
      expect(withoutSecrets(`it was ${spelling}`, ['\ud800 broken'])).toBe('it was [redacted]');
    },
  );
});
