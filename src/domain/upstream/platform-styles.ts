import type { CheckedStyle, StyleChecker } from '../../ports/style-checker.js';
import type { Telemetry } from '../../ports/telemetry.js';
import { LruMap } from '../shared/lru-map.js';
import type { MemoryShare } from '../shared/memory-budget.js';
import { SingleFlight } from '../shared/single-flight.js';

export interface PlatformStylesDependencies {
  /** Counts checked styles. */
  readonly memory: MemoryShare;
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

/** Checks the platform's CSS before it reaches a page, once per text; logs what was removed. */
export class PlatformStyles {
  readonly #deps: PlatformStylesDependencies;
  readonly #brands: LruMap<string>;
  readonly #themes: LruMap<{ readonly theme: CheckedTheme | undefined }>;
  readonly #brandFlights = new SingleFlight<string>();
  readonly #themeFlights = new SingleFlight<CheckedTheme | undefined>();
  #checker: StyleChecker | undefined;

  constructor(dependencies: PlatformStylesDependencies) {
    this.#deps = dependencies;
    const share = dependencies.memory;
    this.#brands = new LruMap({ share });
    this.#themes = new LruMap({ share });
  }

  /** Identifies the rules a theme is checked by: every process sends the same CSS for the same text and the same rules. */
  get rulesName(): string {
    return this.#deps.hash(JSON.stringify([RULES_VERSION, this.#deps.themeOrigins])).slice(0, 8);
  }

  /** A brand style sheet that is safe for pages. */
  async brand(css: string): Promise<string> {
    const { hash, trustBrandCss } = this.#deps;
    if (trustBrandCss || css === '') return css;
    const key = hash(css);
    const known = this.#brands.get(key);
    if (known !== undefined) return known;
    return this.#brandFlights.run(key, async () => {
      const checked = await (await this.#loaded()).brand(css);
      this.#report(checked, BRAND);
      this.#brands.set(key, checked.css, 2 * checked.css.length, this.#expiry());
      return checked.css;
    });
  }

  /** A theme that is safe for browsers; `undefined` if it cannot be parsed. */
  async theme(css: string): Promise<CheckedTheme | undefined> {
    const key = this.#deps.hash(css);
    const known = this.#themes.get(key);
    if (known !== undefined) return known.theme;
    return this.#themeFlights.run(key, async () => {
      const checked = await (await this.#loaded()).theme(css);
      this.#report(checked, THEME);
      const theme = checked && { bytes: encoder.encode(checked.css), digest: key.slice(0, 32) };
      this.#themes.set(key, { theme }, theme?.bytes.length, this.#expiry());
      return theme;
    });
  }

  #expiry(): number {
    return this.#deps.memory.now() + CHECKED_MS;
  }

  async #loaded(): Promise<StyleChecker> {
    return (this.#checker ??= await this.#deps.checker());
  }

  #report(checked: CheckedStyle | undefined, { code, summary, field }: typeof BRAND): void {
    if (checked === undefined || checked.leftOut.length === 0) return;
    const detail = `${summary} Left out: ${checked.leftOut.join(', ')}.`;
    this.#deps.telemetry.emit({ type: 'warning', code, detail, summary, block: 'configureServer', fields: [field] });
  }
}

const BRAND = {
  code: 'brand_reduced',
  summary:
    'Part of the platform\'s brand CSS is not sent to pages: only custom properties of :root are. If you trust the platform with your pages, set "trustBrandCss" in configureServer.',
  field: 'trustBrandCss',
};

const THEME: typeof BRAND = {
  code: 'theme_reduced',
  summary:
    'Part of a widget\'s theme is not sent to browsers: it loads from other origins. List those you trust in "mediaOrigins" in configureServer.',
  field: 'mediaOrigins',
};
