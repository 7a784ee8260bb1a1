import { gzipSync } from 'node:zlib';
import { CHARSETS, declarations, DISGUISES } from './declarations.js';
import { ebcdic, twoFaced, utf16be, utf16le, utf32, utf7 } from './encodings.js';
import {
  DENIED,
  HOOKED,
  hostile,
  type HostileMessage,
  JSON_TYPE,
  LIST,
  request,
  SEND,
  SENT,
} from './hostile-message.js';

/** Messages whose bytes are something else to a reader that believes their declaration. */
export function codings(): readonly HostileMessage[] {
  return [...decodedOtherwise(), ...declaredOtherwise()];
}

/** The bytes are harmless in UTF-8, and are not what a reader with the declared charset sees. */
function decodedOtherwise(): HostileMessage[] {
  const before = SENT.slice(0, -1);
  const open = request(SEND).slice(0, -1);
  const faces = [
    ...twoFaced(before, LIST.join(':')).map((face) => ({ ...face, shows: 'a denied method' })),
    ...twoFaced(open, `"params":${HOOKED}`).map((face) => ({ ...face, shows: 'a webhook' })),
  ];
  const encoded: readonly (readonly [charsets: readonly string[], body: Uint8Array])[] = [
    [['utf-16le', 'utf-16', 'ucs-2'], utf16le(DENIED)],
    [['utf-16le', 'utf-16', 'utf-8'], utf16le(`\ufeff${DENIED}`)],
    [['utf-16be', 'utf-16'], utf16be(DENIED)],
    [['utf-16be', 'utf-16', 'utf-8'], utf16be(`\ufeff${DENIED}`)],
    [['utf-32le', 'utf-32'], utf32(DENIED, true)],
    [['utf-32be', 'utf-32'], utf32(`\ufeff${DENIED}`, false)],
    [['utf-7'], Buffer.from(utf7(DENIED, (character) => /["{}]/.test(character)))],
    [['cp037', 'ibm037'], ebcdic(DENIED)],
    [['utf-8', 'utf-8-sig'], Buffer.from(`\ufeff${DENIED}`)],
  ];
  return [
    ...faces.flatMap(({ how, shows, charsets, body }) =>
      charsets.flatMap((charset, index) =>
        // One charset is declared in every way, its other names in the usual ones.
        declarations(charset)
          .slice(0, index === 0 ? undefined : 3)
          .map((declares) => hostile(`${shows} with ${how}`, body, declares)),
      ),
    ),
    ...faces.map(({ how, shows, body }) => hostile(`${shows} with ${how}, undeclared`, body)),
    ...encoded.flatMap(([charsets, body]) =>
      [undefined, ...charsets].map((charset) =>
        hostile(
          `denied method with encoding ${charsets[0] ?? ''}`,
          body,
          charset === undefined ? [JSON_TYPE] : [`${JSON_TYPE}; charset=${charset}`],
        ),
      ),
    ),
  ];
}

function declaredOtherwise(): HostileMessage[] {
  const form = `--x\r\nContent-Disposition: form-data; name="method"\r\n\r\nListTasks\r\n--x--\r\n`;
  return [
    ...CHARSETS.flatMap((charset) =>
      declarations(charset)
        .slice(0, 3)
        .map((declares) => hostile(`message in UTF-8 with charset ${charset}`, SENT, declares)),
    ),
    ...DISGUISES.flatMap((declares) =>
      [SENT, DENIED, form, `=${SENT}`, gzipSync(DENIED)].map((disguised) =>
        hostile(`declaration with ${declares.join(' and ')}`, disguised, declares),
      ),
    ),
  ];
}
