/** Charsets that some parser supports and that change the meaning of ASCII bytes. */
export const CHARSETS: readonly string[] = (
  'utf-7 utf7 unicode-1-1-utf-7 utf-7-imap utf-16 utf-16le utf-16be ucs-2 utf-32le hz iso-2022-jp gb18030 shift_jis ' +
  'cp037 unicode_escape punycode utf-8-sig latin1 us-ascii base64 rot13 undefined utf-8;'
).split(' ');

/** Ways to declare a charset for JSON. */
export function declarations(charset: string): readonly (readonly string[])[] {
  const last = [
    `; charset=${charset}`,
    `;charset="${charset}"`,
    `; charset='${charset}'`,
    `; charset="${charset.charAt(0)}\\${charset.slice(1)}"`,
    `; Charset=${charset.toUpperCase()}`,
    `; CHARSET = ${charset}`,
    ` ;charset=${charset}`,
    `;\tcharset=${charset};`,
    `; charset=${charset}; charset=utf-8`,
    `; charset="utf-8"; charset=${charset}`,
    `; x="; charset=${charset}"`,
    `; x="\\""; charset=${charset}`,
    `; charset*=${charset}''utf-8`,
    `, application/json; charset=${charset}`,
    ` charset=${charset}`,
  ];
  const plain = 'Content-Type: application/json';
  return [
    ...last.map((parameters) => [plain + parameters]),
    [plain, `${plain}; charset=${charset}`],
    [`${plain}; charset=utf-8`, `content-type: text/plain; charset=${charset}`],
  ];
}

const TYPES = [
  ...'text/plain text/json application/x-json application/a2a+json application/vnd.api+json */* "application/json"'.split(
    ' ',
  ),
  '',
  'Application/JSON',
  'application/json;',
  'application/json; version="1.0; charset=utf-8"',
  'application/json\u00a0',
  'application/json, text/plain',
  'multipart/form-data; boundary="application/json; charset=utf-8"',
];
const CODINGS = ['gzip', 'deflate', 'br', 'identity', 'identity, gzip', 'utf-7', ''];

/** Declarations of other types than JSON, and of encoded JSON. */
export const DISGUISES: readonly (readonly string[])[] = [
  [],
  ...TYPES.map((type) => [`Content-Type: ${type}`]),
  ...CODINGS.map((coding) => ['Content-Type: application/json', `Content-Encoding: ${coding}`]),
  ['Content-Type: multipart/form-data; boundary=x', 'Content-Type: application/json'],
  ['Content-Type: application/json', 'Content-Transfer-Encoding: base64'],
];
