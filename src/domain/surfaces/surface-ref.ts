import { decodeSegment } from '../upstream/safe-path.js';

/** A surface by the way it is addressed; the value is decoded. */
export interface SurfaceRef {
  readonly by: 'id' | 'name';
  readonly value: string;
}

/** What is asked of a surface. */
export type SurfaceRoute =
  | { readonly operation: 'render'; readonly ref: SurfaceRef }
  | { readonly operation: 'action'; readonly ref: SurfaceRef; readonly action: string }
  | { readonly operation: 'theme'; readonly ref: SurfaceRef };

/** What a method and a path mean. */
export type SurfaceMatch =
  | { readonly kind: 'route'; readonly route: SurfaceRoute }
  | { readonly kind: 'not-found' }
  | { readonly kind: 'method-not-allowed'; readonly allow: string };

const NOT_FOUND: SurfaceMatch = { kind: 'not-found' };
const READING: readonly string[] = ['GET', 'HEAD'];
const SENDING: readonly string[] = ['POST'];
/** Six slashes are more than any route has. */
const MAX_SEGMENTS = 5;

/** Finds the route of a raw path below the mount point. The list is closed: what is not in it is nothing (spec §4.1). */
export function matchSurface(method: string, path: string): SurfaceMatch {
  const route = surfaceRoute(path);
  if (route === undefined) return NOT_FOUND;
  const allowed = route.operation === 'theme' ? READING : SENDING;
  return allowed.includes(method)
    ? { kind: 'route', route }
    : { kind: 'method-not-allowed', allow: allowed.join(', ') };
}

function surfaceRoute(path: string): SurfaceRoute | undefined {
  if (!path.startsWith('/')) return undefined;
  const segments = path.slice(1).split('/', MAX_SEGMENTS).map(decodeSegment);
  // Whatever follows: a surface whose id is "by-name" cannot be reached.
  return segments[0] === 'by-name'
    ? operation('name', segments[1], segments.slice(2))
    : operation('id', segments[0], segments.slice(1));
}

function operation(
  by: SurfaceRef['by'],
  value: string | undefined,
  rest: readonly (string | undefined)[],
): SurfaceRoute | undefined {
  if (value === undefined) return undefined;
  const ref = { by, value };
  const word = rest[0];
  const action = rest[1];
  if (rest.length === 1 && word === 'render') return { operation: 'render', ref };
  if (rest.length === 1 && word === 'theme.css') return { operation: 'theme', ref };
  return rest.length === 2 && word === 'actions' && action !== undefined
    ? { operation: 'action', ref, action }
    : undefined;
}
