/** Line ends, those that only some log readers know too (CWE-117), and tabs. */
const LINE_ENDS = /[\t-\r\u0085\u2028\u2029]+/gu;
/** Characters that a terminal obeys, or that reorder the text around them (CVE-2021-42574). */
const UNSEEN = /[\p{Cc}\p{Bidi_Control}]/gu;

/** The text on one line, on which everything can be seen: control and bidirectional characters become escapes such as `\u202e`. */
export function visibleLine(text: string): string {
  return text.replace(LINE_ENDS, ' ').replace(UNSEEN, (unseen) => {
    const code = unseen.charCodeAt(0).toString(16).padStart(4, '0');
    return String.raw`\u${code}`;
  });
}
