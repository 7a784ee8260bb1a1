import type { KeyvLike } from '../../adapters/keyv/keyv-store.js';
import { ProcessMemory } from '../../adapters/memory/process-memory.js';
import { systemClock } from '../../adapters/system/system.js';
import { firstOf } from '../../adapters/telemetry/terminal-telemetry.js';
import type { ConfigurationError } from '../../domain/shared/errors.js';
import { accept, type OptionCheck, type OptionShape, readOptions, wholeNumber } from '../../domain/shared/options.js';
import type { CacheStore } from '../../ports/cache-store.js';
import type { Telemetry } from '../../ports/telemetry.js';
import { type AnyRows, invalidField } from '../../domain/shared/setting.js';
import { resolveConfig } from '../config/resolve-config.js';
import { FIELDS } from '../config/schema.js';
import type { ServerConfig } from '../config/server-config.js';
import { sharedStore } from './cache-stores.js';
import { ownSource } from './connections.js';
import type { SharedParts } from './container.js';
import { siteTelemetry } from './platform-module.js';
import { processMemory, sharedObjects } from './process-wide.js';

/**
 * Options of `createShared`.
 *
 * @public
 */
export interface SharedOptions {
  /** As `cacheStore` in `configureServer`, for all its toolkits: one connection, one breaker. Default: none. */
  readonly cacheStore?: string | CacheStore | KeyvLike | undefined;
  /** As `timeouts.cacheMs`. Default 50. */
  readonly cacheMs?: number | undefined;
  /** As `timeouts.connectMs`. Default 5 000. */
  readonly connectMs?: number | undefined;
  /**
   * Bytes of renders and look-ups of its toolkits in the memory of this process. Default: an eighth of the process's
   * memory and at least 67 108 864, together with all toolkits that share nothing.
   */
  readonly memoryBytes?: number | undefined;
  /** Receives the faults of the store, as `telemetry` in `configureServer`. */
  readonly telemetry?: Telemetry | readonly Telemetry[] | 'silent' | undefined;
}

/**
 * Connections, store and memory that toolkits share.
 *
 * @public
 */
export interface Shared {
  /**
   * Closes its connections. Calling it again returns the first call's promise.
   *
   * @throws ConfigurationError (code `configuration_invalid`) naming the toolkits that are still open; nothing is closed then.
   */
  close(): Promise<void>;
}

const check = (row: AnyRows[string] | undefined): OptionCheck => row?.check as OptionCheck;
const times = FIELDS['timeouts']?.fields;

const SHARED: OptionShape<keyof SharedOptions> = {
  options: {
    cacheStore: check(FIELDS['cacheStore']),
    cacheMs: check(times?.['cacheMs']),
    connectMs: check(times?.['connectMs']),
    memoryBytes: wholeNumber,
    telemetry: check(FIELDS['telemetry']),
  },
};

/**
 * Creates what the toolkits of many tenants share in one process: the connections to agents and platforms, the cache
 * store, and memory for cached data.
 *
 * @throws ConfigurationError (code `configuration_invalid`) naming the option that is unknown or invalid.
 *
 * @example
 * ```ts
 * import { createShared, createToolkit } from 'agent-bff';
 *
 * const shared = createShared({ cacheStore: process.env['CACHE_URL'] });
 * const toolkits = ['acme', 'globex'].map((name) =>
 *   createToolkit({ name, a2aUrl: `https://${name}.example/a2a`, serviceAuthStrategy: 'none' }, { shared }),
 * );
 * process.once('SIGTERM', async () => {
 *   await Promise.all(toolkits.map((toolkit) => toolkit.close()));
 *   await shared.close();
 * });
 * ```
 *
 * @public
 */
export function createShared(options?: SharedOptions): Shared {
  const maker = 'createShared';
  const { cacheStore, memoryBytes, telemetry: receivers, ...timeouts } = readOptions(maker, SHARED, options);
  const config = resolveConfig({ name: 'shared', cacheStore, timeouts, telemetry: receivers }, {}, maker);
  const telemetry = siteTelemetry(config, config.telemetry, undefined);
  const used = sharedStore(config, systemClock, telemetry);
  const { tokens, data } = processMemory();
  const parts: SharedParts = {
    upstream: ownSource(config.timeouts.connectMs).connect(),
    store: used?.store,
    memory: { tokens, data: memoryBytes === undefined ? data : new ProcessMemory(memoryBytes) },
    toolkits: new Map(),
    isClosed: false,
  };
  const end = async (): Promise<void> => {
    parts.isClosed = true;
    await Promise.all([used?.close(), parts.upstream.close({ graceMs: 0 })]);
  };
  let closing: Promise<void> | undefined;
  const shared: Shared = {
    close: async () => {
      if (parts.toolkits.size > 0) throw stillOpen([...parts.toolkits.values()]);
      await (closing ??= end());
    },
  };
  sharedObjects().set(shared, parts);
  return shared;
}

/** The option `shared` of `createToolkit`. */
export const sharedOption: OptionCheck = accept(
  (value) => sharedObjects().has(Object(value) as object),
  'a result of createShared',
);

/**
 * The parts that a toolkit of this configuration shares.
 *
 * @throws ConfigurationError when they are closed, or the configuration has a field that belongs to them.
 */
export function partsOf(shared: Shared, { cacheStore, timeouts: own = {} }: ServerConfig): SharedParts {
  const parts = sharedObjects().get(shared) as SharedParts;
  if (parts.isClosed)
    throw invalidField('shared', 'The object in "shared" is closed.', 'Make another one with createShared.', OWNER);
  const fields = { cacheStore, 'timeouts.cacheMs': own.cacheMs, 'timeouts.connectMs': own.connectMs };
  const [field] = Object.entries(fields).find(([, value]) => (value ?? '') !== '') ?? [];
  if (field === undefined) return parts;
  const detail = `The field "${field}" has no effect with "shared".`;
  throw invalidField(field, detail, 'Set it in createShared instead.', OWNER);
}

/** The function that takes the option. */
const OWNER = 'createToolkit';

function stillOpen(names: readonly string[]): ConfigurationError {
  const detail = `${String(names.length)} toolkits still use it: ${firstOf(names)}.`;
  return invalidField('shared', detail, 'Await toolkit.close() of each before shared.close().', 'createShared');
}
