/**
 * Adds a style to a page or a shadow root; the returned function removes it. A constructed stylesheet is neither an
 * inline style, which a Content-Security-Policy may forbid, nor markup, and it ignores `@import`. It must belong
 * to the window of `root`. Without support, as in jsdom and in old browsers, it does nothing: the component works without
 * its style.
 */
export function adoptStyle(root: Document | ShadowRoot, css: string): () => void {
  try {
    const { defaultView } = root.ownerDocument ?? (root as Document);
    const sheet = new (defaultView as typeof globalThis & Window).CSSStyleSheet();
    sheet.replaceSync(css);
    root.adoptedStyleSheets = [...root.adoptedStyleSheets, sheet];
    return () => {
      root.adoptedStyleSheets = root.adoptedStyleSheets.filter((one) => one !== sheet);
    };
  } catch {
    return () => undefined;
  }
}
