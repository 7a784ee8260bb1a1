/** Properties by which an element moves or clips what is fixed to the window inside it. */
const CAPTURING =
  'transform translate rotate scale perspective filter backdrop-filter clip-path mask-image contain container-type will-change';

/**
 * Puts a floating chat into the browser's top layer if an element around it would move or clip it. Elsewhere it keeps
 * its `z-index`, by which a site arranges it with its own layers. Browsers without popovers leave it where it is.
 */
export function liftOut(root: HTMLElement): void {
  let around = containerOf(root);
  while (around !== null && !isCapturing(around)) around = containerOf(around);
  if (around === null || !('showPopover' in root) || root.matches(':popover-open')) return;
  root.setAttribute('popover', 'manual');
  root.showPopover();
}

function containerOf(element: Element): Element | null {
  return element.parentElement ?? (element.getRootNode() as Partial<ShadowRoot>).host ?? null;
}

function isCapturing(element: Element): boolean {
  const style = getComputedStyle(element);
  return CAPTURING.split(' ').some((name) => !/^(?:none|normal|auto|)$/.test(style.getPropertyValue(name)));
}
