/** An attribute or a rule of a theme, with the addresses its browser would fetch. */
interface FetchedPart {
  readonly addresses: readonly string[];
  /** To be called for later parts first. */
  readonly remove: () => void;
}

/** A comment, a `url()` with its address, or a string. */
const TOKEN =
  /\/\*[^]*?\*\/|url\(\s*(?:"([^"\\]*)"|'([^'\\]*)'|([^"'()\\\s]*))\s*\)|"(?:[^"\\]|\\[^])*"|'(?:[^'\\]|\\[^])*'/gi;
/** Text that fetches by an escape, a rare function, or a set of strings or variables; `"` is any string. */
const UNCLEAR = /\\|(?:url|src|image)\(|image-set\((?:type\("\)|[^"();])*["(]/i;

/** Finds the rules of a sheet, as the browser has parsed them. */
export function partsOfSheet(parent: CSSStyleSheet | CSSGroupingRule): FetchedPart[] {
  return [...parent.cssRules].flatMap((rule, index) => {
    if (rule instanceof CSSNamespaceRule) return []; // its address is a name
    const remove = () => parent.deleteRule(index);
    if (!('insertRule' in rule)) return { addresses: addressesInStyle(rule.cssText), remove };
    const { style } = rule as Partial<CSSStyleRule>;
    return [{ addresses: addressesInStyle(`${style?.cssText}`), remove }, ...partsOfSheet(rule as CSSGroupingRule)];
  });
}

/** Finds the attributes of markup that has no inline styles. */
export function partsOfMarkup(markup: DocumentFragment): FetchedPart[] {
  return [...markup.querySelectorAll('*')].flatMap((element) =>
    [...element.attributes].map((attribute) => ({
      addresses: addressesOfAttribute(element, attribute),
      remove: () => element.removeAttributeNode(attribute),
    })),
  );
}

/** Removes the parts that fetch from elsewhere than the page's origin, `data:` and the origins the site allows. */
export async function removeForeign(
  parts: readonly FetchedPart[],
  mediaOrigins: () => Promise<readonly string[]>,
): Promise<void> {
  const foreign = parts.filter((part) => !isFrom([location.origin], part));
  if (foreign.length === 0) return;
  const origins = [location.origin, ...(await mediaOrigins())];
  for (const part of foreign.reverse()) if (!isFrom(origins, part)) part.remove();
}

function isFrom(origins: readonly string[], { addresses }: FetchedPart): boolean {
  return addresses.every((address) => {
    try {
      const { protocol, origin } = new URL(address, document.baseURI);
      return protocol === 'data:' || origins.includes(origin);
    } catch {
      return false;
    }
  });
}

function addressesOfAttribute(element: Element, { localName, value }: Attr): readonly string[] {
  if (/^(?:src|srcset|poster|background|href)$/.test(localName))
    return element.matches('a, area') ? [] : [value, ...value.split(/[\s,]+/)];
  // In SVG and MathML, attributes such as "fill" are styles.
  return element instanceof HTMLElement ? [] : addressesInStyle(value);
}

function addressesInStyle(css: string): readonly string[] {
  const addresses: string[] = [];
  const rest = css.replaceAll(TOKEN, (token, double?: string, single?: string, bare?: string) => {
    const address = double ?? single ?? bare;
    if (address === undefined) return token.startsWith('/') ? ' ' : '"';
    addresses.push(address);
    return '';
  });
  return UNCLEAR.test(rest) ? ['//'] : addresses;
}
