import type { DOMPurify } from 'dompurify';

/**
 * Sanitises markup and keeps every name and id. A sanitiser drops those that are properties of the document or of a
 * form, and some forms that contain them, because scripts of a page could mistake a field for the property. In a shadow
 * root there is no such access by the document. The names are numbers while the sanitiser runs, and the same as
 * before when it returns.
 */
export function sanitiseNamed(purify: DOMPurify, sanitise: () => DocumentFragment): DocumentFragment {
  const names: string[] = [];
  const neutralise = (node: Node): void => {
    if (node.nodeName !== 'BODY') return;
    for (const attribute of namesIn(node as Element)) attribute.value = String(names.push(attribute.value) - 1);
  };
  purify.addHook('beforeSanitizeElements', neutralise);
  try {
    const fragment = sanitise();
    for (const attribute of namesIn(fragment)) attribute.value = names[Number(attribute.value)] ?? '';
    return fragment;
  } finally {
    purify.removeHook('beforeSanitizeElements', neutralise);
  }
}

function namesIn(root: ParentNode): Attr[] {
  return Array.from(root.querySelectorAll('[id], [name], [for]')).flatMap((element) => {
    // A form's own "attributes" may be a field.
    const attributes = Reflect.get(Element.prototype, 'attributes', element) as NamedNodeMap;
    return ['id', 'name', 'for'].flatMap((name) => attributes.getNamedItem(name) ?? []);
  });
}

/** An attribute's value, even of a form that has a field called "getAttribute". */
export function attributeOf(element: Element, name: string): string | null {
  return Element.prototype.getAttribute.call(element, name);
}
