import { JsonCursor, type JsonSpan, JsonTextError } from '../shared/json-cursor.js';
import type { SurfaceNames } from './render-generations.js';

const QUOTE = 0x22;
const encoder = new TextEncoder();
const decoder = new TextDecoder();
const SURFACE = encoder.encode('surface');
const ID = encoder.encode('id');
const NAME = encoder.encode('name');

/**
 * The names of a surface in a reply of the platform, which need not have any.
 * Reads the bytes in one pass and makes no values of them: `JSON.parse` takes ten times as long for a megabyte of empty objects.
 */
export function surfaceNames(reply: Uint8Array | undefined): SurfaceNames {
  try {
    const [surface] = members(reply, [SURFACE]);
    const [id, name] = members(surface, [ID, NAME]);
    return { id: string(id), name: string(name) };
  } catch (error) {
    if (error instanceof JsonTextError) return { id: undefined, name: undefined };
    throw error;
  }
}

/** The texts of an object's members by name; of two of one name the last, as `JSON.parse` has it. Names with escapes are not recognized. */
function members(text: Uint8Array | undefined, names: readonly Uint8Array[]): readonly (Uint8Array | undefined)[] {
  if (text === undefined) return [];
  const cursor = new JsonCursor(text);
  const found: (Uint8Array | undefined)[] = [];
  if (!cursor.enterObject()) return found;
  for (let span = cursor.nextName(true); span !== undefined; span = cursor.nextName(false)) {
    cursor.peek();
    const start = cursor.position;
    cursor.skipValue();
    const { position } = cursor;
    const index = names.findIndex((name) => isAt(text, span, name));
    if (index >= 0) found[index] = text.subarray(start, position);
  }
  cursor.end();
  return found;
}

function isAt(text: Uint8Array, { start, end }: JsonSpan, name: Uint8Array): boolean {
  return end - start === name.length && name.every((byte, index) => byte === text[start + index]);
}

function string(text: Uint8Array | undefined): string | undefined {
  return text?.[0] === QUOTE ? (JSON.parse(decoder.decode(text)) as string) : undefined;
}
