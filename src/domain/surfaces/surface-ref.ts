import { decodeSegment } from '../upstream/safe-path.js';
import { JsonCursor, type JsonSpan, JsonTextError } from '../shared/json-cursor.js';

/** A surface and how it is addressed; the value is decoded. */
export interface SurfaceRef {
  readonly by: 'id' | 'name';
  readonly value: string;
}

/** A request to a surface. */
export type SurfaceRoute =
  | { readonly operation: 'render'; readonly ref: SurfaceRef }
  | { readonly operation: 'action'; readonly ref: SurfaceRef; readonly action: string }
  | { readonly operation: 'theme'; readonly ref: SurfaceRef };

const READING: readonly string[] = ['GET', 'HEAD'];
const SENDING: readonly string[] = ['POST'];
/** No route has six slashes. */
const MAX_SEGMENTS = 5;

/** The methods of a route. */
export function methodsOf({ operation }: SurfaceRoute): readonly string[] {
  return operation === 'theme' ? READING : SENDING;
}

/** The route of a raw path below the mount point. The list is closed: any other path has none. */
export function surfaceRoute(path: string): SurfaceRoute | undefined {
  if (!path.startsWith('/')) return undefined;
  const segments = path.slice(1).split('/', MAX_SEGMENTS).map(decodeSegment);
  // Reserved: a surface with the id "by-name" cannot be reached.
  const isByName = segments[0] === 'by-name';
  const [value, ...rest] = isByName ? segments.slice(1) : segments;
  if (value === undefined) return undefined;
  const ref: SurfaceRef = { by: isByName ? 'name' : 'id', value };
  const [word, action] = rest;
  if (rest.length === 1 && word === 'render') return { operation: 'render', ref };
  if (rest.length === 1 && word === 'theme.css') return { operation: 'theme', ref };
  return rest.length === 2 && word === 'actions' && action !== undefined
    ? { operation: 'action', ref, action }
    : undefined;
}

const QUOTE = 0x22;
const encoder = new TextEncoder();
const decoder = new TextDecoder();
const SURFACE = encoder.encode('surface');
const ID = encoder.encode('id');
const NAME = encoder.encode('name');

/** The id and name of a surface in a response of the platform. */
export interface SurfaceNames {
  readonly id: string | undefined;
  readonly name: string | undefined;
}

/**
 * The id and name of a surface in a response of the platform; both may be missing. Scans the bytes in one pass without
 * creating values: `JSON.parse` takes ten times as long for a megabyte of empty objects.
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

/**
 * The string members of an object by name; the last one if a name is repeated, as in `JSON.parse`. Names with escapes
 * are not recognised.
 */
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
