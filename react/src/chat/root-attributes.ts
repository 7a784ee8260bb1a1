import type { A2AChatProps } from '../chat-props.js';

/** Attributes of a component's outermost element; every rule of the stylesheet applies inside one. */
export function rootAttributes(
  { className = '', colorScheme, dir }: Pick<A2AChatProps, 'className' | 'colorScheme' | 'dir'>,
  brandCss: string | undefined,
) {
  return {
    className: `agent-bff ${className}`.trim(),
    dir,
    'data-color-scheme': colorScheme,
    // Until the brand is loaded, elements in its colour have no colour.
    'data-brand': brandCss === undefined ? 'pending' : undefined,
  };
}
