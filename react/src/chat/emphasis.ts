import type { Opening, Token } from './inline-tree.js';

/** A mark of emphasis, or a tag of it, which begins or ends an element. */
export interface Delimiter {
  readonly token: Token;
  readonly mark: string;
  /** Of an anchor. */
  readonly href?: string;
  /** The length of the whole run, and of what is left of it. */
  readonly length: number;
  count: number;
  readonly canOpen: boolean;
  readonly canClose: boolean;
}

/** Pairs the delimiters from an index on (CommonMark, "process emphasis"). */
export function pairDelimiters(all: Delimiter[], bottom: number): void {
  const floors = new Map<string, number>();
  for (let index = bottom; index < all.length; index += 1) {
    const closer = all[index] as Delimiter;
    while (closer.canClose && closer.count > 0) {
      const kind = `${closer.mark}${closer.canOpen}${closer.length % 3}`;
      let at = index - 1;
      const floor = floors.get(kind) ?? bottom;
      while (at >= floor && !isPair(all[at] as Delimiter, closer)) at -= 1;
      if (at < floor) {
        floors.set(kind, index);
        break;
      }
      const opener = all[at] as Delimiter;
      const used = opener.count > 1 && closer.count > 1 ? 2 : 1;
      opener.token.opens.unshift(openingOf(opener, used));
      closer.token.closes += 1;
      use(opener, used);
      use(closer, used);
      all.splice(at + 1, index - at - 1);
      index = at + 1;
      for (const [key, bound] of floors) floors.set(key, Math.min(bound, index));
    }
  }
}

/** A delimiter that nothing closes: a mark of what is to come, or a text. */
export function leaveOpen(delimiter: Delimiter, isGrowing: boolean): void {
  const { token, count, canOpen } = delimiter;
  if (!canOpen || count === 0) return;
  token.isOpen = true;
  if (!isGrowing) return;
  token.text = '';
  if (count % 2 === 1) token.opens.unshift(openingOf(delimiter, 1));
  if (count > 1) token.opens.unshift(openingOf(delimiter, 2));
}

function isPair(opener: Delimiter, closer: Delimiter): boolean {
  if (opener.mark !== closer.mark || !opener.canOpen || opener.count === 0) return false;
  if (closer.mark === '~') return true;
  const isBoth = opener.canClose || closer.canOpen;
  return !isBoth || (opener.length + closer.length) % 3 !== 0 || (opener.length % 3 === 0 && closer.length % 3 === 0);
}

function use(delimiter: Delimiter, used: number): void {
  delimiter.count -= used;
  delimiter.token.text = delimiter.mark.startsWith('<') ? '' : delimiter.mark.repeat(delimiter.count);
}

function openingOf({ mark, href }: Delimiter, used: number): Opening {
  if (mark === '~') return { tag: 'del' };
  if (mark.startsWith('<')) return { tag: mark.slice(1) as Opening['tag'], href };
  return { tag: used === 2 ? 'strong' : 'em' };
}
