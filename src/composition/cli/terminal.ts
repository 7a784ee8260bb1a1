/** How a text may stand out. */
export type TextStyle = 'bold' | 'dim' | 'green' | 'red' | 'yellow';

/** What a command talks to. */
export interface Terminal {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly print: (text: string) => void;
  readonly complain: (text: string) => void;
  /** Resolves when the user wants a command that runs on to stop. */
  readonly stopped: Promise<void>;
  /** Makes a text stand out. Default: leaves it as it is. */
  readonly style?: (style: TextStyle, text: string) => string;
  /** Shows one line that the next one replaces, and an empty one erases. Default: shows nothing. */
  readonly progress?: (line: string) => void;
}
