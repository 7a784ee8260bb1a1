/** A way to write a name that some reader may take for it. */
export interface Spelling {
  readonly how: string;
  /** Between quotes, as JSON text. */
  readonly written: string;
}

/** Letters of other alphabets and widths that readers fold, compose or strip. */
const LOOKALIKES: Readonly<Record<string, readonly string[]>> = {
  a: ['а', 'ａ', 'á', 'ª'],
  c: ['с', 'ｃ', 'ⅽ'],
  d: ['ⅾ'],
  e: ['е', 'ｅ', 'é'],
  f: ['ｆ'],
  i: ['İ', 'ı', 'ｉ', 'і', 'ⅰ'],
  k: ['K', 'ｋ'],
  m: ['ｍ', 'ⅿ'],
  n: ['ñ', 'ｎ'],
  o: ['о', 'ｏ', 'º', 'ℴ'],
  p: ['р', 'ｐ'],
  s: ['ſ', 'ｓ', 'ѕ', 'ß'],
  t: ['ｔ'],
  u: ['ｕ'],
};
const LIGATURES: readonly (readonly [string, string])[] = [
  ['fi', 'ﬁ'],
  ['st', 'ﬆ'],
  ['ss', 'ß'],
];
/** What a reader may leave out or not show. */
const INVISIBLE: readonly (readonly [name: string, text: string])[] = [
  ['a space', ' '],
  ['a tab', '\\t'],
  ['a line feed', '\\n'],
  ['a NUL', '\\u0000'],
  ['a no-break space', '\u00a0'],
  ['a soft hyphen', '\u00ad'],
  ['a combining accent', '\u0301'],
  ['a zero-width space', '\u200b'],
  ['a zero-width joiner', '\u200d'],
  ['a right-to-left mark', '\u200f'],
  ['a byte order mark', '\ufeff'],
  ['half a surrogate pair', '\\ud800'],
  ['a variation selector', '\ufe0f'],
  ['a deletion', '\u007f'],
];

/** Every way to write a camelCase name that the corpus knows, itself first. */
export function spellings(name: string): readonly Spelling[] {
  const words = name.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`).split(' ');
  const capital = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1);
  const middle = Math.floor(name.length / 2);
  const plain: readonly (readonly [string, string])[] = [
    ['itself', name],
    ['upper case', name.toUpperCase()],
    ['lower case', name.toLowerCase()],
    ['a capital', capital(name)],
    ['its last letter in upper case', name.slice(0, -1) + name.slice(-1).toUpperCase()],
    ['snake case', words.join('_')],
    ['upper snake case', words.join('_').toUpperCase()],
    ['kebab case', words.join('-')],
    ['train case', words.map(capital).join('-')],
    ['words', words.join(' ')],
    ['dots', words.join('.')],
    ['an underscore before', `_${name}`],
    ['an underscore behind', `${name}_`],
    ['doubled underscores', words.join('__')],
    ['a dollar sign', `$${name}`],
    ['brackets', `[${name}]`],
    ['a path', `/${name}`],
  ];
  return [
    ...plain.map(([how, written]) => ({ how, written })),
    ...INVISIBLE.flatMap(([what, text]) => [
      { how: `${what} behind`, written: name + text },
      { how: `${what} before`, written: text + name },
      { how: `${what} inside`, written: name.slice(0, middle) + text + name.slice(middle) },
    ]),
    ...lookalikes(name),
    { how: 'one escape', written: escaped(name.charAt(0)) + name.slice(1) },
    {
      how: 'one escape in upper case',
      written: name.slice(0, -1) + escaped(name.slice(-1)).toUpperCase().replace('U', 'u'),
    },
    { how: 'escapes alone', written: escaped(name) },
    { how: 'a capital as an escape', written: escaped(name.charAt(0).toUpperCase()) + name.slice(1) },
  ];
}

function lookalikes(name: string): Spelling[] {
  const found: Spelling[] = [];
  for (const [position, letter] of name.split('').entries()) {
    for (const other of LOOKALIKES[letter.toLowerCase()] ?? []) {
      const how = `${other} for ${letter}`;
      if (found.some((one) => one.how === how)) continue;
      const around = (text: string): string => name.slice(0, position) + text + name.slice(position + 1);
      found.push({ how, written: around(other) }, { how: `${how} as an escape`, written: around(escaped(other)) });
    }
  }
  for (const [letters, ligature] of LIGATURES) {
    if (name.includes(letters))
      found.push({ how: `${ligature} for ${letters}`, written: name.replace(letters, ligature) });
  }
  return found;
}

/** All of a text as `\u` escapes. */
export function escaped(text: string): string {
  return text
    .split('')
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('');
}
