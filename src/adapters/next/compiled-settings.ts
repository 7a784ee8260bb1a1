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
