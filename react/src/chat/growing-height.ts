import type { RefObject } from 'react';

import { useBrowserLayoutEffect } from '../use-latest.js';

/**
 * Gives a text field the height of its text where the browser does not support `field-sizing`, also when its width
 * changes or it becomes visible. The style's `max-height` still applies.
 */
export function useGrowingHeight(field: RefObject<HTMLTextAreaElement | null>, text: string): void {
  useBrowserLayoutEffect(() => {
    if (field.current !== null && !sizesItself()) fit(field.current);
  }, [field, text]);
  useBrowserLayoutEffect(() => {
    const { current } = field;
    if (current === null || sizesItself() || typeof ResizeObserver === 'undefined') return undefined;
    const observer = new ResizeObserver(() => fit(current));
    observer.observe(current);
    return () => observer.disconnect();
  }, [field]);
}

function sizesItself(): boolean {
  return typeof CSS !== 'undefined' && CSS.supports('field-sizing', 'content');
}

function fit(field: HTMLTextAreaElement): void {
  field.style.height = 'auto';
  if (field.scrollHeight > 0) field.style.height = `${field.scrollHeight}px`; // 0 while hidden
}
