/** Letters of other alphabets and widths that parsers may fold, compose or strip. */
const LOOKALIKES: Readonly<Record<string, string>> = {
  a: 'аａáª',
  c: 'сｃⅽ',
  d: 'ⅾ',
  e: 'еｅé',
  f: 'ｆ',
  i: 'İıｉіⅰ',
  k: 'Kｋ',
  m: 'ｍⅿ',
  n: 'ñｎ',
  o: 'оｏºℴ',
  p: 'рｐ',
  s: 'ſｓѕß',
  t: 'ｔ',
  u: 'ｕ',
};
const LIGATURES = { fi: 'ﬁ', st: 'ﬆ', ss: 'ß' };
/** Characters a parser may drop: white space, NUL, joiners, marks, half a surrogate pair. */
const INVISIBLE = [
  ' ',
  ...String.raw`\t \n \u0000 \ud800`.split(' '),
  ...'\u00a0 \u00ad \u0301 \u200b \u200d \u200f \ufeff \ufe0f \u007f'.split(' '),
];

/** Every spelling that some parser may treat as this camelCase name, as JSON string contents. The name itself comes first. */
export function spellings(name: string): readonly string[] {
  const words = name.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`).split(' ');
  const capital = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1);
  const middle = Math.floor(name.length / 2);
  return [
    name,
    name.toUpperCase(),
    name.toLowerCase(),
    capital(name),
    name.slice(0, -1) + name.slice(-1).toUpperCase(),
    ...['_', '-', ' ', '.', '__'].map((separator) => words.join(separator)),
    words.join('_').toUpperCase(),
    words.map(capital).join('-'),
    ...['_', '$', '/'].map((first) => first + name),
    `${name}_`,
    `[${name}]`,
    ...INVISIBLE.flatMap((text) => [name + text, text + name, name.slice(0, middle) + text + name.slice(middle)]),
    ...name
      .split('')
      .flatMap((letter, position) =>
        Array.from(LOOKALIKES[letter.toLowerCase()] ?? '').flatMap((other) =>
          [other, escaped(other)].map((text) => name.slice(0, position) + text + name.slice(position + 1)),
        ),
      ),
    ...Object.entries(LIGATURES).flatMap(([letters, ligature]) =>
      name.includes(letters) ? [name.replace(letters, ligature)] : [],
    ),
    escaped(name.charAt(0)) + name.slice(1),
    name.slice(0, -1) + escaped(name.slice(-1)).toUpperCase().replace('U', 'u'),
    escaped(name),
    escaped(name.charAt(0).toUpperCase()) + name.slice(1),
  ];
}

/** A text with every character as a `\u` escape. */
export function escaped(text: string): string {
  return text
    .split('')
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('');
}
