/**
 * The rendered elements that a target describes, in the order of the document and its open shadow trees. Runs in the
 * page, so it uses nothing from this module. A form reads its own properties from its fields, so they are read through
 * prototypes.
 */
export function findTargets({
  selector,
  name,
  text,
}: {
  readonly selector: string;
  readonly name?: string | undefined;
  readonly text?: string | undefined;
}): readonly Element[] {
  const within = (root: Document | ShadowRoot): readonly Element[] =>
    [...root.querySelectorAll('*')].flatMap((element) => {
      const shadow = element instanceof HTMLFormElement ? null : element.shadowRoot;
      return shadow === null ? [element] : [element, ...within(shadow)];
    });
  const words = (of: string | null | undefined): string => (of ?? '').replace(/\s+/g, ' ').trim();
  const nameOf = (element: HTMLElement): string =>
    words(element.getAttribute('aria-label')) ||
    words((element as HTMLInputElement).labels?.[0]?.textContent) ||
    words(element.textContent) ||
    words((element as HTMLInputElement).value) ||
    words((element as HTMLInputElement).placeholder);
  return within(document).filter(
    (element): element is HTMLElement =>
      element instanceof HTMLElement &&
      Element.prototype.matches.call(element, selector) &&
      Element.prototype.getClientRects.call(element).length > 0 &&
      getComputedStyle(element).visibility === 'visible' &&
      (name === undefined || nameOf(element) === name) &&
      (text === undefined || words(element.innerText).includes(words(text))),
  );
}
