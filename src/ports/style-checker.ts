/** CSS that is safe to send to a page. */
export interface CheckedStyle {
  readonly css: string;
  /** Summary of the removed rules for the log, such as `2 rules for elements other than :root`; empty if all rules remain. */
  readonly leftOut: readonly string[];
}

/** Parses the platform's CSS and writes new CSS that contains only what is allowed on a page. */
export interface StyleChecker {
  /** Keeps custom properties of the document's root, and those that depend on a visitor's preferences. */
  brand(css: string): Promise<CheckedStyle>;
  /**
   * Keeps every rule, but replaces URLs of foreign origins with an empty image and removes imports. Resolves to
   * `undefined` if the text is too long or nested too deeply to be parsed.
   */
  theme(css: string): Promise<CheckedStyle | undefined>;
}
