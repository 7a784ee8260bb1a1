/**
 * Gives a page or a shadow root a style; the result takes it away again. A constructed stylesheet is neither an inline
 * style, which a Content-Security-Policy may forbid, nor markup, and it loads nothing by `@import`. Where there are
 * none, as in jsdom, it does nothing: what is styled still works.
 */
export function adoptStyle(root: DocumentOrShadowRoot, css: string): () => void {
  if (typeof CSSStyleSheet === 'undefined' || !('replaceSync' in CSSStyleSheet.prototype)) return () => undefined;
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(css);
  root.adoptedStyleSheets = [...root.adoptedStyleSheets, sheet];
  return () => {
    root.adoptedStyleSheets = root.adoptedStyleSheets.filter((one) => one !== sheet);
  };
}
