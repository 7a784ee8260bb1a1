import { useBrowserLayoutEffect } from '../use-latest.js';

interface Adopted {
  readonly sheet: CSSStyleSheet;
  users: number;
}

const adopted = new Map<string, Adopted>();

/**
 * Applies the platform's brand to the page while a component is there. A constructed stylesheet is neither an inline
 * style, which a Content-Security-Policy may forbid, nor markup, and it loads nothing by `@import`.
 */
export function useBrand(brandCss = ''): void {
  useBrowserLayoutEffect(() => (brandCss === '' ? undefined : adopt(brandCss)), [brandCss]);
}

function adopt(css: string): () => void {
  const brand = adopted.get(css) ?? construct(css);
  brand.users += 1;
  return () => {
    brand.users -= 1;
    if (brand.users > 0) return;
    adopted.delete(css);
    document.adoptedStyleSheets = document.adoptedStyleSheets.filter((sheet) => sheet !== brand.sheet);
  };
}

function construct(css: string): Adopted {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(css);
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
  const brand = { sheet, users: 0 };
  adopted.set(css, brand);
  return brand;
}
