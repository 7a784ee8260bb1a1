/** Controls, and characters that reorder the text around them. */
const DISGUISE = /\p{Bidi_Control}|[^\P{Cc}\n\t]/gu;
const ENTITY = /&(?:#(\d{1,7})|#x([\da-f]{1,6})|([a-z][a-z\d]{1,7}));/iy;
const ENTITIES_IN_TEXT = /&(?:#(\d{1,7})|#x([\da-f]{1,6})|([a-z][a-z\d]{1,7}));/gi;
/** A backslash before punctuation, or an entity. */
const ESCAPES = /\\([!-/:-@[-`{-~])|&(?:#(\d{1,7})|#x([\da-f]{1,6})|([a-z][a-z\d]{1,7}));/gi;

/** The entities that agents write. Any other is shown as it is written. */
const ENTITIES: ReadonlyMap<string, string> = new Map(
  (
    'amp & lt < gt > quot " apos \' copy © reg ® trade ™ hellip … mdash — ndash – lsquo ‘ rsquo ’ ldquo “ rdquo ” ' +
    'laquo « raquo » bull • middot · times × divide ÷ deg ° euro € pound £ yen ¥ cent ¢ sect § plusmn ± minus − ' +
    'larr ← rarr → uarr ↑ darr ↓ le ≤ ge ≥ ne ≠ asymp ≈ infin ∞ frac12 ½ auml ä ouml ö uuml ü Auml Ä Ouml Ö Uuml Ü ' +
    'szlig ß eacute é egrave è agrave à ccedil ç ntilde ñ'
  )
    .split(' ')
    .reduce<[string, string][]>(
      (pairs, word, index, words) => {
        if (index % 2 === 0) pairs.push([word, words[index + 1] ?? '']);
        return pairs;
      },
      [['nbsp', '\u00a0']],
    ),
);

/** The text in the order it is written. */
export function visible(text: string): string {
  return text.replace(DISGUISE, '');
}

export function normalized(label: string): string {
  // Unicode's case folding: ẞ and SS are the same.
  return label.trim().replace(/\s+/g, ' ').toLowerCase().toUpperCase();
}

/** A text without backslash escapes and entities, as in an address. */
export function unescaped(text: string): string {
  return text.replace(ESCAPES, (...found: string[]) => found[1] ?? characterOf(found.slice(1)) ?? (found[0] as string));
}

/** The same for an attribute of HTML, which has no backslash escapes. */
export function withoutEntities(text: string): string {
  return text.replace(ENTITIES_IN_TEXT, (...found: string[]) => characterOf(found) ?? (found[0] as string));
}

/** The entity at an offset: its length in the source, and its character; undefined if there is none. */
export function entityAt(
  text: string,
  at: number,
): { readonly length: number; readonly character: string } | undefined {
  ENTITY.lastIndex = at;
  const found = ENTITY.exec(text);
  const character = found === null ? undefined : characterOf(found);
  return found === null || character === undefined ? undefined : { length: found[0].length, character };
}

function characterOf([, decimal, hexadecimal, name = '']: readonly (string | undefined)[]): string | undefined {
  if (decimal === undefined && hexadecimal === undefined) return ENTITIES.get(name);
  const code = decimal === undefined ? Number.parseInt(hexadecimal ?? '', 16) : Number(decimal);
  const isCharacter = code > 0 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff);
  return isCharacter ? String.fromCodePoint(code) : '\ufffd';
}
