import { decodeSegment } from '../upstream/safe-path.js';
import { isObject, parsedJson } from '../shared/json.js';
import { MAX_JSON_VALUES } from '../shared/json-document.js';

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

const decoder = new TextDecoder();

/** The id and name of a surface in a response of the platform. */
export interface SurfaceNames {
  readonly id: string | undefined;
  readonly name: string | undefined;
}

/** The id and name of a surface in a response of the platform; both may be missing, as in one with too many values. */
export function surfaceNames(reply: Uint8Array | undefined): SurfaceNames {
  const value = reply && parsedJson(decoder.decode(reply), MAX_JSON_VALUES);
  const surface = isObject(value) && isObject(value['surface']) ? value['surface'] : {};
  return { id: string(surface['id']), name: string(surface['name']) };
}

function string(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
