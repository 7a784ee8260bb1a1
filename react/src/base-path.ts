/** The `basePath` of a Next site, such as `/shop`; empty elsewhere. Next's bundlers replace the expression. */
export function basePath(): string {
  try {
    return process.env.__NEXT_ROUTER_BASEPATH ?? '';
  } catch {
    return '';
  }
}

/** An address to which a path is added. */
export function withoutSlash(address: string): string {
  return address.replace(/\/+$/, '');
}

declare const process: { readonly env: { readonly __NEXT_ROUTER_BASEPATH?: string } };
