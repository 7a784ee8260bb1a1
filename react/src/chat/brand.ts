import { adoptStyle } from '../style/adopt-style.js';
import { useBrowserLayoutEffect } from '../use-latest.js';

interface Adopted {
  readonly remove: () => void;
  users: number;
}

const adopted = new Map<string, Adopted>();

/** Applies the platform's brand to the page, once, while any component is mounted. */
export function useBrand(brandCss = ''): void {
  useBrowserLayoutEffect(() => (brandCss === '' ? undefined : adopt(brandCss)), [brandCss]);
}

function adopt(css: string): () => void {
  const brand = adopted.get(css) ?? { remove: adoptStyle(document, css), users: 0 };
  adopted.set(css, brand);
  brand.users += 1;
  return () => {
    brand.users -= 1;
    if (brand.users > 0) return;
    adopted.delete(css);
    brand.remove();
  };
}
