/** Names of form fields: usual ones, and properties of documents, forms, elements and all objects. */
export const FIELD_NAMES: readonly string[] = [
  ...words(`name title location email phone tel address street city zip country company message comment notes subject
    quantity amount price date time colour file url website username password code token rating choice answer terms`),
  // Of a form and its prototypes.
  ...words(`action method target enctype encoding acceptCharset autocomplete noValidate elements length submit reset
    requestSubmit checkValidity reportValidity relList rel id className classList style dataset hidden lang dir role
    attributes children childNodes firstChild firstElementChild parentNode nodeName nodeType tagName textContent
    innerHTML namespaceURI setAttribute getAttribute getAttributeNode removeAttribute removeAttributeNode
    removeChild insertBefore appendChild hasChildNodes closest matches querySelectorAll contains ownerDocument
    isConnected remove focus click addEventListener dispatchEvent shadowRoot slot part`),
  // Of a document.
  ...words(
    'body head domain cookie forms images links scripts embeds URL referrer documentElement createElement write',
  ),
  // Of all objects, and names that need care in markup, JSON or selectors.
  ...words('__proto__ constructor prototype toString valueOf hasOwnProperty isPrototypeOf field-0 items[] a.b 0 -1'),
  'first name',
  '"quoted"',
  'a]>b',
  '</title>',
  'Straße 文件',
];

/** Fields of the types that hold text, as filled in by a visitor. */
export const FILLED: Readonly<Record<string, readonly [attributes: string, value: string]>> = {
  text: ['', 'Ada'],
  password: ['', 'secret'],
  email: ['', 'ada@example.com'],
  tel: ['', '+49 30 1'],
  url: ['', 'https://example.com/'],
  search: ['', 'word'],
  number: ['', '42'],
  range: ['max="10"', '7'],
  date: ['', '2026-02-28'],
  time: ['', '13:45'],
  'datetime-local': ['', '2026-02-28T13:45'],
  month: ['', '2026-02'],
  color: ['', '#336699'],
};

function words(text: string): readonly string[] {
  return text.trim().split(/\s+/);
}

/** Text as an attribute's value in double quotes. */
export function quoted(text: string): string {
  return `"${text.replaceAll('&', '&amp;').replaceAll('"', '&quot;')}"`;
}
