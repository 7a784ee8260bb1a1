/** The lines that say what to do, of what the doctor printed. */
function fixLines(printed: string): string[] {
  return [...printed.matchAll(/^ {4}fix: (.+)$/gm)].map(([, sentence = '']) => sentence);
}

/** Those of them that name a block and all of these fields, given as `block: field, field`. */
export function fixesOf(printed: string, place: string): string[] {
  const [block = '', ...fields] = place.split(/: |, /);
  const words = block === 'command line' ? fields : [block, ...fields];
  return fixLines(printed).filter((line) => words.every((word) => line.includes(word)));
}
