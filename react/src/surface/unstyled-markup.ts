/** A style element, or a tag whose quotes are closed. */
const STYLE_OR_TAG = /<style\b[^<]*(?:<(?!\/style)[^<]*)*(?:<\/style[^>]*>?|$)|<[a-z](?:[^"'<>]|"[^"]*"|'[^']*')*>/gi;
/** One attribute with its value; of a tag, the first is its name. */
const ATTRIBUTE = /[^\s"'<>/=]+(?:\s*=\s*(?:"[^"]*"|'[^']*'|[^\s"'<>]+))?/g;
const STYLE_OR_HANDLER = /^(?:style|on[a-z]+)\s*=/i;

/**
 * Markup without styles and event handlers. A sanitiser leaves them out as well, but it has to parse them first, and Chromium
 * reports that to a strict Content-Security-Policy, whatever document it happens in. Makes nothing safe by itself.
 */
export function unstyledMarkup(html: string): string {
  return html.replaceAll(STYLE_OR_TAG, (found) =>
    /^<style\b/i.test(found)
      ? ''
      : found.replaceAll(ATTRIBUTE, (attribute) => (STYLE_OR_HANDLER.test(attribute) ? '' : attribute)),
  );
}
