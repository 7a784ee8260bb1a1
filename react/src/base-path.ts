/** The `basePath` of a site of Next, such as `/shop`: its bundlers replace the expression. Elsewhere empty. */
export function basePath(): string {
  try {
    return process.env.__NEXT_ROUTER_BASEPATH ?? '';
  } catch {
    return '';
  }
}

declare const process: { readonly env: { readonly __NEXT_ROUTER_BASEPATH?: string } };
