import { ConfigurationError } from '../domain/errors.js';
import type { RenderCacheSettings } from '../domain/surfaces/render-cache.js';

/**
 * How renders of widgets are kept (spec §2.4). Actions are never kept.
 *
 * @public
 */
export interface RenderCacheOptions {
  /** Default false. */
  readonly enabled?: boolean | undefined;
  /** How long a render is given out without asking whether the widget changed, in milliseconds. Default 3 000. */
  readonly freshMs?: number | undefined;
  /** How long a render may live at all, however often its widget is found unchanged; milliseconds. Default 300 000. */
  readonly maxAgeMs?: number | undefined;
  /** Most renders one handler leaves in the store. Default 500. */
  readonly maxEntries?: number | undefined;
  /** Longer renders are not kept. Default 1 048 576. */
  readonly maxEntryBytes?: number | undefined;
}

const DEFAULTS: RenderCacheSettings = { freshMs: 3_000, maxAgeMs: 300_000, maxEntries: 500, maxEntryBytes: 1_048_576 };

/**
 * Completes the option `cache`; `undefined` when renders are not kept.
 *
 * @throws ConfigurationError naming the field.
 */
export function renderCacheSettings(
  options: RenderCacheOptions | undefined,
  maker: string,
): RenderCacheSettings | undefined {
  const { enabled = false, ...spans } = options ?? {};
  if (typeof enabled !== 'boolean') throw wrong('enabled', 'true or false', maker);
  const settings: Record<string, number> = { ...DEFAULTS };
  for (const [name, value] of Object.entries(spans)) {
    if (!Object.hasOwn(DEFAULTS, name)) throw wrong(name, `one of enabled, ${Object.keys(DEFAULTS).join(', ')}`, maker);
    if (value === undefined) continue;
    if (!Number.isSafeInteger(value) || value < 0) throw wrong(name, 'a whole number, 0 or more', maker);
    settings[name] = value;
  }
  return enabled ? (settings as unknown as RenderCacheSettings) : undefined;
}

function wrong(field: string, expected: string, maker: string): ConfigurationError {
  return new ConfigurationError({
    detail: `"cache.${field}" is no setting of a render cache.`,
    hint: `Set it to ${expected}.`,
    block: maker,
    fields: [`cache.${field}`],
  });
}
