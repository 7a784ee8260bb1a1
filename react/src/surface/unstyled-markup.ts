/** Matches a style element, or a tag with balanced quotes. */
const STYLE_OR_TAG = /<style\b[^<]*(?:<(?!\/style)[^<]*)*(?:<\/style[^>]*>?|$)|<[a-z](?:[^"'<>]|"[^"]*"|'[^']*')*>/gi;
/** Matches one attribute with its value; the first match in a tag is its name. */
const ATTRIBUTE = /[^\s"'<>/=]+(?:\s*=\s*(?:"[^"]*"|'[^']*'|[^\s"'<>]+))?/g;
const STYLE_OR_HANDLER = /^(?:style|on[a-z]+)\s*=/i;

/**
 * Removes styles and event handlers from markup. A sanitiser removes them too, but has to parse them first, which
 * Chromium reports as a violation of a strict Content-Security-Policy, in any document. Not a sanitiser by itself.
 */
export function unstyledMarkup(html: string): string {
  return html.replace(STYLE_OR_TAG, (found) =>
    /^<style\b/i.test(found)
      ? ''
      : found.replace(ATTRIBUTE, (attribute) => (STYLE_OR_HANDLER.test(attribute) ? '' : attribute)),
  );
}
