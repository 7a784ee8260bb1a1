/** Matches a style that may load something: an address that is not a reference within the document, or text that may hide one. */
const FETCHING_STYLE = /\\|(?:url|src|image|image-set)\(\s*(?!["']?#)/i;
const ADDRESSES = /^(?:src|srcset|poster|background|href)$/;

/**
 * Removes everything that loads from an origin other than the page's, `data:` and the origins the site allows. The
 * markup must have no inline styles.
 */
export async function removeForeign(
  markup: DocumentFragment,
  mediaOrigins: () => Promise<readonly string[]>,
): Promise<void> {
  const foreign: [Element, Attr][] = [];
  // A form has no address, and its properties may be its fields.
  for (const element of markup.querySelectorAll(':not(form)')) {
    for (const attribute of Array.from(element.attributes)) {
      // In SVG and MathML, attributes such as "fill" are styles; they refer to parts of the widget itself.
      if (
        !(element instanceof HTMLElement) &&
        FETCHING_STYLE.test(attribute.value) &&
        !ADDRESSES.test(attribute.localName)
      )
        element.removeAttributeNode(attribute);
      else if (!areFrom([location.origin], element, attribute)) foreign.push([element, attribute]);
    }
  }
  if (foreign.length === 0) return;
  const origins = [location.origin, ...(await mediaOrigins())];
  for (const [element, attribute] of foreign) {
    if (!areFrom(origins, element, attribute)) element.removeAttributeNode(attribute);
  }
}

function areFrom(origins: readonly string[], element: Element, { localName, value }: Attr): boolean {
  if (!ADDRESSES.test(localName) || element.matches('a, area')) return true;
  return [value, ...value.split(/[\s,]+/)].every((address) => {
    try {
      const { protocol, origin } = new URL(address, document.baseURI);
      return protocol === 'data:' || origins.includes(origin);
    } catch {
      return false;
    }
  });
}
