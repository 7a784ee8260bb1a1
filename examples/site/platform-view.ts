/** The part of the platform that the demo page can see and change. A real site has no access like this. */
export interface PlatformView {
  /** The platform's requests, the latest first. */
  readonly requestCounts: readonly { readonly method: string; readonly path: string; readonly count: number }[];
  /** Requests since its start. */
  readonly requestTotal: number;
  /** Throws RangeError if the text is invalid. */
  setPollQuestion(text: string): void;
}
