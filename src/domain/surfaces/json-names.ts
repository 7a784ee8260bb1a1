/**
 * Whether an object in a JSON text names one field twice, also in another case, down to `depth` levels.
 * Two readers may pick different ones of the pair, so a policy that reads such a text decides about another request than the one it forwards.
 * The text must be valid JSON.
 */
export function hasDuplicateKey(text: string, depth: number): boolean {
  const names: (Set<string> | undefined)[] = [];
  let position = 0;
  let expectsName = false;
  while (position < text.length) {
    switch (text.charCodeAt(position)) {
      case 0x7b: // {
        names.push(names.length < depth ? new Set() : undefined);
        expectsName = true;
        break;
      case 0x5b: // [
        names.push(undefined);
        expectsName = false;
        break;
      case 0x7d: // }
      case 0x5d: // ]
        names.pop();
        expectsName = false;
        break;
      case 0x2c: // ,
        expectsName = names.at(-1) !== undefined;
        break;
      case 0x22: {
        const end = stringEnd(text, position);
        const seen = names.at(-1);
        if (expectsName && seen !== undefined) {
          const name = nameAt(text, position, end).toLowerCase();
          if (seen.has(name)) return true;
          seen.add(name);
        }
        expectsName = false;
        position = end;
        break;
      }
      default:
        break;
    }
    position += 1;
  }
  return false;
}

/** The name between two quotes; only escapes need a reader. */
function nameAt(text: string, start: number, end: number): string {
  const name = text.slice(start + 1, end);
  return name.includes('\\') ? (JSON.parse(`"${name}"`) as string) : name;
}

/** The index of the quote that closes the string opened at `start`. */
function stringEnd(text: string, start: number): number {
  let end = text.indexOf('"', start + 1);
  while (end > 0 && isEscaped(text, end)) end = text.indexOf('"', end + 1);
  return end < 0 ? text.length : end;
}

function isEscaped(text: string, quote: number): boolean {
  let backslashes = 0;
  while (text.charCodeAt(quote - 1 - backslashes) === 0x5c) backslashes += 1;
  return backslashes % 2 === 1;
}
