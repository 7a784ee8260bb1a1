import type { RenderCacheSettings } from '../../domain/surfaces/render-cache.js';

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

/** Completes the option `cache`, as `readOptions` has read it; `undefined` when renders are not kept. */
export function renderCacheSettings({ enabled, ...given }: RenderCacheOptions = {}): RenderCacheSettings | undefined {
  return enabled === true ? ({ ...DEFAULTS, ...given } as RenderCacheSettings) : undefined;
}
