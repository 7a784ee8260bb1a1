/**
 * Keeps a panel that fills the window above an on-screen keyboard that covers the page instead of shrinking it, as in
 * iOS. The returned function ends that.
 */
export function keepAboveKeyboard(panel: HTMLElement | null): () => void {
  const { visualViewport: view } = window;
  if (!view || panel === null) return () => undefined;
  const place = (): void => {
    // A zoomed page has a smaller viewport too.
    const isCovered = Math.abs(view.scale - 1) < 0.01;
    const above = isCovered ? view.offsetTop : 0;
    const below = isCovered ? Math.max(0, window.innerHeight - view.height - view.offsetTop) : 0;
    panel.style.setProperty('--a2a-above', `${above}px`);
    panel.style.setProperty('--a2a-keyboard', `${below}px`);
  };
  view.addEventListener('resize', place);
  view.addEventListener('scroll', place);
  return () => {
    view.removeEventListener('resize', place);
    view.removeEventListener('scroll', place);
  };
}
