/** The end of a word in an input method, as engines report it. */
export const COMPOSITION_ORDERS = {
  'keydown, then compositionend (Chromium, Firefox)': [
    ['keydown', true],
    ['compositionend', false],
  ],
  'compositionend, then keydown (WebKit)': [
    ['compositionend', false],
    ['keydown', false],
  ],
} as const;

/** Composes a word in the focused field and ends it with `key`. Runs in the page; returns true if the key was not handled. */
export function compose(args: {
  readonly key: string;
  readonly order: readonly (readonly [type: string, isComposing: boolean])[];
}): boolean {
  const field = document.activeElement as HTMLElement;
  field.dispatchEvent(new CompositionEvent('compositionstart', { bubbles: true }));
  const ended = args.order.map(([type, isComposing]) => {
    if (type !== 'keydown') return field.dispatchEvent(new CompositionEvent(type, { bubbles: true, data: '日本' }));
    const event = new KeyboardEvent(type, { key: args.key, isComposing, bubbles: true, cancelable: true });
    Object.defineProperty(event, 'keyCode', { value: 229 });
    return field.dispatchEvent(event);
  });
  return ended.every(Boolean);
}
