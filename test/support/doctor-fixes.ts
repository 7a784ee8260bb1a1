/** The lines with a fix in the doctor's output. */
function fixLines(printed: string): string[] {
  return [...printed.matchAll(/^ {4}fix: (.+)$/gm)].map(([, sentence = '']) => sentence);
}

/** The fixes that name a block and all of these fields, given as `block: field, field`. */
export function fixesOf(printed: string, place: string): string[] {
  const [block = '', ...fields] = place.split(/: |, /);
  const words = block === 'command line' ? fields : [block, ...fields];
  return fixLines(printed).filter((line) => words.every((word) => line.includes(word)));
}
