import type { CheckedStyle, StyleChecker } from '../../ports/style-checker.js';
import type { Telemetry } from '../../ports/telemetry.js';
import type { Clock } from '../../ports/clock.js';
import type { Memory, MemoryMap } from '../../ports/memory.js';
import { SingleFlight } from '../shared/single-flight.js';

export interface PlatformStylesDependencies {
  /** Holds checked styles. */
  readonly memory: Memory;
  readonly clock: Clock;
  /** Loads the parser, which a site without brand and widgets does not need; called again after a failure. */
  readonly checker: () => Promise<StyleChecker>;
  readonly telemetry: Telemetry;
  /** A collision-resistant one-way hash. */
  readonly hash: (text: string) => string;
  /** True if brand CSS is sent to pages unchecked. */
  readonly trustBrandCss: boolean;
  /** Origins a theme may load from. */
  readonly themeOrigins: readonly string[];
}

/** A theme as sent to browsers. */
export interface CheckedTheme {
  readonly bytes: Uint8Array;
  /** A digest of the platform's original text. */
  readonly digest: string;
}

/** Version of the rules: increased when they write different CSS for the same theme. */
const RULES_VERSION = 1;

/** Milliseconds after which a style is checked again. */
const CHECKED_MS = 600_000;

const encoder = new TextEncoder();

/** A checked style: its text if it is a brand, its bytes if it is a theme; neither if it cannot be parsed. */
interface Checked {
  readonly css?: string;
  readonly theme?: CheckedTheme;
}

/** Checks the platform's CSS before it reaches a page, once per text; logs what was removed. */
export class PlatformStyles {
  readonly #deps: PlatformStylesDependencies;
  readonly #styles: MemoryMap<Checked>;
  readonly #flights = new SingleFlight<Checked>();
  #checker: StyleChecker | undefined;

  constructor(dependencies: PlatformStylesDependencies) {
    this.#deps = dependencies;
    this.#styles = dependencies.memory.map();
  }

  /** Identifies the rules a theme is checked by: every process sends the same CSS for the same text and the same rules. */
  get rulesName(): string {
    return this.#deps.hash(JSON.stringify([RULES_VERSION, this.#deps.themeOrigins])).slice(0, 8);
  }

  /** A brand style sheet that is safe for pages. */
  async brand(css: string): Promise<string> {
    if (this.#deps.trustBrandCss || css === '') return css;
    return (await this.#checked('brand', css)).css ?? '';
  }

  /** A theme that is safe for browsers; `undefined` if it cannot be parsed. */
  async theme(css: string): Promise<CheckedTheme | undefined> {
    return (await this.#checked('theme', css)).theme;
  }

  async #checked(kind: keyof typeof REDUCED, css: string): Promise<Checked> {
    const digest = this.#deps.hash(css);
    const key = `${kind} ${digest}`;
    const known = this.#styles.get(key);
    if (known !== undefined) return known;
    return this.#flights.run(key, async () => {
      this.#checker ??= await this.#deps.checker();
      const style = await this.#checker[kind](css);
      const checked = style === undefined ? {} : this.#result(kind, style, digest);
      const bytes = checked.theme?.bytes.length ?? 2 * (checked.css?.length ?? 0);
      this.#styles.set(key, checked, bytes, this.#deps.clock.now() + CHECKED_MS);
      return checked;
    });
  }

  #result(kind: keyof typeof REDUCED, { css, leftOut }: CheckedStyle, digest: string): Checked {
    if (leftOut.length > 0) {
      const { summary, field } = REDUCED[kind];
      const detail = `${summary} Left out: ${leftOut.join(', ')}.`;
      this.#deps.telemetry.emit({
        type: 'warning',
        code: `${kind}_reduced`,
        detail,
        summary,
        block: 'configureServer',
        fields: [field],
      });
    }
    return kind === 'brand' ? { css } : { theme: { bytes: encoder.encode(css), digest: digest.slice(0, 32) } };
  }
}

/** Warnings about styles of which a part was removed. */
const REDUCED = {
  brand: {
    summary:
      'Part of the platform\'s brand CSS is not sent to pages: only custom properties of :root are. If you trust the platform with your pages, set "trustBrandCss" in configureServer.',
    field: 'trustBrandCss',
  },
  theme: {
    summary:
      'Part of a widget\'s theme is not sent to browsers: it loads from other origins. List those you trust in "mediaOrigins" in configureServer.',
    field: 'mediaOrigins',
  },
};
