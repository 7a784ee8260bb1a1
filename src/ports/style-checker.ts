/** CSS that may go to a page. */
export interface CheckedStyle {
  readonly css: string;
  /** Kinds of what was left out, for the log, such as `2 rules for something else than :root`; empty when all of it stayed. */
  readonly leftOut: readonly string[];
}

/** Parses CSS of the platform and writes a new text, which holds only what a page allows. */
export interface StyleChecker {
  /** Keeps custom properties of the document's root, and those that depend on a visitor's preferences. */
  brand(css: string): Promise<CheckedStyle>;
  /** Keeps every rule; addresses of foreign origins are replaced by an empty image, and imports go. Resolves to `undefined` for a text too long or nested too deep to be parsed. */
  theme(css: string): Promise<CheckedStyle | undefined>;
}
