/** What the demo page may see and change of the platform behind the site. A real site has no such thing. */
export interface PlatformView {
  /** What the platform was asked, the latest first. */
  readonly requestCounts: readonly { readonly method: string; readonly path: string; readonly count: number }[];
  /** Requests since its start. */
  readonly requestTotal: number;
  /** Throws RangeError when the text is none. */
  setPollQuestion(text: string): void;
}
