import type { Target } from '../fetch/to-http-request.js';

/** How a route finds its mount point in a path. */
export interface MountRule {
  /** Where the route usually lies, such as `/api/a2a`; a base path may stand before it. */
  readonly usual: string;
  /** The path the route always has below its mount point, for routes that serve nothing else. */
  readonly fixed?: string;
}

/**
 * Finds the mount point in a raw path. The segments that a catch-all parameter took (`[...path]`) lie below it; without one,
 * the usual mount point is looked for, and else the whole path is the mount point.
 */
export function targetOf(path: string, params: unknown, { usual, fixed }: MountRule): Target {
  if (fixed !== undefined) {
    const whole = withoutSlash(path);
    return { mount: whole.endsWith(fixed) ? whole.slice(0, whole.length - fixed.length) : whole, path: fixed };
  }
  const mount = path.slice(0, mountLength(path, params, usual));
  return { mount, path: path.slice(mount.length) };
}

/** A path without the slash at its end, which Next itself adds on sites with `trailingSlash`. */
export function withoutSlash(path: string): string {
  return path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path;
}

function mountLength(path: string, params: unknown, usual: string): number {
  const caught = Object.values(Object(params) as object).find((value) => Array.isArray(value));
  // An encoded slash divides no segments.
  const segments = withoutSlash(path).split('/');
  if (caught !== undefined) return segments.slice(0, segments.length - caught.length).join('/').length;
  // The first one: what a visitor chooses stands behind it.
  const at = `${path}/`.indexOf(`${usual}/`);
  return at < 0 ? path.length : at + usual.length;
}

// Next writes these settings into the code it compiles, in place of exactly these expressions.

interface Compiled {
  readonly __NEXT_TRAILING_SLASH?: unknown;
  readonly __NEXT_ROUTER_BASEPATH?: unknown;
}

/** Whether the site's `trailingSlash` is on: Next then redirects every address without a slash at its end, so it says nothing. */
export function addsSlashes(): boolean {
  const setting = (process.env as Compiled).__NEXT_TRAILING_SLASH;
  return setting === true || setting === 'true';
}

/** The site's `basePath`, such as `/shop`, which is in no address a route is given; else empty. */
export function basePath(): string {
  const setting = (process.env as Compiled).__NEXT_ROUTER_BASEPATH;
  return typeof setting === 'string' ? setting : '';
}
