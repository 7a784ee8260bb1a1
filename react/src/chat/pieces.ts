import type { Inline } from './inline-tree.js';

/**
 * A browser lays out a whole paragraph each time it changes, so a long one is shown in pieces. A piece ends after this
 * weight, or at the first line break after half of it. An element weighs one.
 */
const MAX_WEIGHT = 500;
/** The characters that weigh as much as an element. */
const CHARACTERS = 40;
/** The most characters formatted at once, and the most marks among them that may begin or end an element. */
const SLICE = 8000;
const MAX_MARKS = 400;
/** The share of them in the first slice: it is slower, since the page has formatted nothing yet. */
const FIRST = 1 / 4;
const MARKS = /[\n`*_~|<\]]|:\/\//g;

/** The pieces of a paragraph so far. */
export interface Pieces {
  /** The index of the first inline of each. */
  readonly starts: readonly number[];
  /** The weight of the last piece. */
  readonly weight: number;
  readonly endsInBreak: boolean;
}

export const ONE_PIECE: Pieces = { starts: [0], weight: 0, endsInBreak: false };

/** Adds inlines to the pieces of a paragraph; `from` is the index of the first one. */
export function withInlines(pieces: Pieces, from: number, inlines: readonly Inline[]): Pieces {
  const starts = [...pieces.starts];
  let { weight, endsInBreak } = pieces;
  for (const [index, inline] of inlines.entries()) {
    const isBreak = typeof inline !== 'string' && inline.tag === 'br';
    if (endsInBreak ? weight >= MAX_WEIGHT / 2 : weight >= MAX_WEIGHT && !isBreak) {
      starts.push(from + index);
      weight = 0;
    }
    weight += weightOf(inline);
    endsInBreak = isBreak;
  }
  return { starts, weight, endsInBreak };
}

function weightOf(inline: Inline): number {
  if (typeof inline === 'string') return 1 + inline.length / CHARACTERS;
  return inline.children.reduce((sum, child) => sum + weightOf(child), 1);
}

/** A text in pieces, each of whole lines. */
export function piecesOfLines(text: string): readonly string[] {
  const pieces: string[] = [];
  let [start, at, weight] = [0, 0, 0];
  for (let end; (end = text.indexOf('\n', at) + 1) > 0; at = end) {
    weight += 1 + (end - at) / CHARACTERS;
    if (weight < MAX_WEIGHT) continue;
    pieces.push(text.slice(start, end));
    [start, weight] = [end, 0];
  }
  return start < text.length || start === 0 ? [...pieces, text.slice(start)] : pieces;
}

/** The end of the next slice of a text to be formatted. Of a line of more than `least` characters, it has that many. */
export function sliceEnd(text: string, from: number, least: number): number {
  const end = text.indexOf('\n', from);
  const ofLine = Math.min(least, (end < 0 ? text.length : end) - from);
  const slice = text.slice(from, from + Math.max(SLICE, ofLine));
  MARKS.lastIndex = 0;
  const max = from === 0 ? MAX_MARKS * FIRST : MAX_MARKS;
  for (let marks = 0; marks < max; marks += 1) if (!MARKS.test(slice)) return from + slice.length;
  return from + Math.max(MARKS.lastIndex, ofLine);
}
