import type { AnswerPiece } from './answer.js';
import type { MessagePart, TextPart } from './message-parts.js';
import type { WirePart } from './wire.js';

/** Parts with ids that stay the same while their piece grows. */
export function withIds(pieceId: string, parts: readonly WirePart[], start = 0): readonly MessagePart[] {
  return parts.map((part, index) => ({ ...part, id: `${pieceId}/${start + index}` }));
}

/** Appends parts to those of a piece. Adjacent texts are joined. */
export function withAppended(
  pieceId: string,
  parts: readonly MessagePart[],
  more: readonly WirePart[],
): readonly MessagePart[] {
  const last = parts[parts.length - 1];
  const [first, ...others] = more;
  if (first === undefined) return parts;
  const next = last === undefined ? 0 : Number(last.id.slice(last.id.lastIndexOf('/') + 1)) + 1;
  if (last === undefined || !isText(last) || last.type !== first.type || !('text' in first))
    return [...parts, ...withIds(pieceId, more, next)];
  const grown: MessagePart = { ...last, text: last.text + first.text };
  return [...parts.slice(0, -1), grown, ...withIds(pieceId, others, next)];
}

/** Joins the pieces of one text. A snapshot of a stream has each chunk as a separate part. */
export function joinedPieces(parts: readonly MessagePart[]): readonly MessagePart[] {
  const joined: MessagePart[] = [];
  let run: TextPart[] = [];
  const flush = (): void => {
    const [first] = run;
    if (first !== undefined)
      joined.push(...(isOneText(run) ? [{ ...first, text: run.map(({ text }) => text).join('') }] : run));
    run = [];
  };
  for (const part of parts) {
    if (run.length > 0 && run[0]?.type !== part.type) flush();
    if (isText(part)) run.push(part);
    else joined.push(part);
  }
  flush();
  return joined;
}

/**
 * A border within a text: white space on a side, a word that goes on, or punctuation that ends the text before. Parts
 * that an agent separated itself have none.
 */
const WITHIN_TEXT = /\s\0|\0[\s\p{Term}\p{Pe}\p{Pf}]|[\p{L}\p{M}]\0[\p{Ll}\p{Lm}\p{Lo}\p{M}]/u;
/** A border between words, as a model streams them. Steps of an agent at work have none, but may be lines. */
export const BETWEEN_WORDS = /[^\S\n]\0|\0[^\S\n]/;

/** True for pieces of one text: at least one border between them is within a text. */
export function isOneText(run: readonly TextPart[], within = WITHIN_TEXT): boolean {
  const texts = run.map(({ text }) => text).filter((text) => text !== '');
  return (
    texts.length < 2 ||
    texts.some((text, at) => at > 0 && within.test(`${texts[at - 1]!.slice(-2)}\0${text.slice(0, 2)}`))
  );
}

/** The part of a piece in a snapshot that earlier turns have not shown. */
export function withoutPrefix(parts: readonly MessagePart[], seen: string | undefined): readonly MessagePart[] {
  if (seen === undefined || seen === '') return parts;
  const content = contentOf(parts);
  if (content === seen) return [];
  const [first] = parts;
  if (first === undefined || !isText(first) || !first.text.startsWith(seen)) return parts;
  const text = first.text.slice(seen.length).trimStart();
  return [...(text === '' ? [] : [{ ...first, text }]), ...parts.slice(1)];
}

/** The snapshot's version of a piece, unless the stream has already delivered more of it. */
export function mergedSnapshot(streamed: AnswerPiece, snapshot: AnswerPiece): AnswerPiece {
  const before = contentOf(streamed.parts);
  const now = contentOf(snapshot.parts);
  if (now === before || (before.length > now.length && before.includes(now))) return streamed;
  return snapshot;
}

/** Creates a check that is true if all text of the given parts is already shown. */
export function repetitionOf(shown: readonly MessagePart[]): (parts: readonly MessagePart[]) => boolean {
  const texts = shown.filter(isText);
  let known: ReadonlySet<string> | undefined;
  return (parts) => {
    known ??= new Set(['', contentOf(texts).trim(), ...texts.map(({ text }) => text.trim())]);
    return parts.every(isText) && known.has(contentOf(parts).trim());
  };
}

const contents = new WeakMap<readonly MessagePart[], string>();

/** The content of parts as one text, to compare them. */
export function contentOf(parts: readonly MessagePart[]): string {
  const known = contents.get(parts);
  if (known !== undefined) return known;
  const texts = parts.map((part) => {
    if (isText(part)) return part.text;
    return part.type === 'file' ? `${part.name} ${part.url ?? part.size}` : JSON.stringify(part.data);
  });
  const content = texts.join('');
  contents.set(parts, content);
  return content;
}

export function isText(part: MessagePart): part is TextPart {
  return part.type !== 'file' && part.type !== 'data';
}
