/** True if the visitor types on a keyboard on the screen: it opens with the focus, and has no Shift+Return. */
export function isTouch(): boolean {
  return globalThis.matchMedia?.('(pointer: coarse)').matches === true;
}
