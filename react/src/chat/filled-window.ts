/** The windows that the panel fills, as in the stylesheet. */
const FILLED = '(max-width: 30rem), (max-height: 30rem)';

/**
 * Shows an open panel modally while it fills the window, so that focus and scrolling stay in it, and above an on-screen
 * keyboard. The returned function ends that.
 */
export function fillWindow(panel: HTMLDialogElement): () => void {
  const stops = [beModal(panel), keepAboveKeyboard(panel)];
  return () => {
    for (const stop of stops) stop();
  };
}

function beModal(panel: HTMLDialogElement): () => void {
  const filled = window.matchMedia(FILLED);
  const show = (isModal: boolean): void => {
    if (isModal === panel.matches(':modal')) return;
    // Not ":focus", which WebKit does not match in a window that is not active.
    const { activeElement } = panel.getRootNode() as Document | ShadowRoot;
    panel.close();
    if (isModal) panel.showModal();
    else panel.setAttribute('open', '');
    if (panel.contains(activeElement)) (activeElement as HTMLElement).focus({ preventScroll: true });
  };
  const onChange = (): void => show(filled.matches);
  onChange();
  filled.addEventListener('change', onChange);
  return () => {
    filled.removeEventListener('change', onChange);
    show(false);
  };
}

/** Keeps the panel above a keyboard that covers the page instead of shrinking it, as in iOS. */
function keepAboveKeyboard(panel: HTMLElement): () => void {
  const { visualViewport: view } = window;
  if (!view) return () => undefined;
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
