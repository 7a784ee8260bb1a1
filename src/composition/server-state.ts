import type { ServerConfig } from './config.js';
import type { Toolkit } from './toolkit-type.js';

/** What `configureServer` was told so far, and the toolkit built from it. Private fields: the configuration holds secrets. */
export class ServerState {
  #config: ServerConfig = {};
  #toolkit: Toolkit | undefined;

  get toolkit(): Toolkit | undefined {
    return this.#toolkit;
  }

  /** Replaces the toolkit by one built from the merged configuration; a configuration that is refused changes nothing. */
  configure(
    merge: (current: ServerConfig) => ServerConfig,
    build: (config: ServerConfig, previous: Toolkit | undefined) => Toolkit,
  ): Toolkit {
    const config = merge(this.#config);
    const toolkit = build(config, this.#toolkit);
    this.#config = config;
    this.#toolkit = toolkit;
    return toolkit;
  }
}

const KEY: unique symbol = Symbol.for('agent-bff/state@1') as never;

/**
 * The process-wide state. On a registered symbol of the global object, because a bundler gives each of its entries its own copy of this module
 * (Next: `instrumentation.ts` and every route; toolchain.md §5).
 */
export function serverState(): ServerState {
  const holder = globalThis as { [KEY]?: ServerState };
  holder[KEY] ??= new ServerState();
  return holder[KEY];
}
