import type { ServerConfig } from './server-config.js';

/** Something about where a configuration comes from that its owner should know, and that ends no start. */
export interface ConfigWarning {
  readonly code: 'variable_misspelt' | 'variable_ignored';
  readonly detail: string;
  /** The environment variable. */
  readonly variable: string;
}

/**
 * Where a configuration carries its warnings, until there is a telemetry to tell: spread and assignment keep it, and no reader of fields sees it.
 * Registered, because a bundler gives each of its entries its own copy of this module.
 */
const WARNINGS: unique symbol = Symbol.for('agent-bff/warnings@1') as never;

interface Warned {
  readonly [WARNINGS]?: readonly ConfigWarning[] | undefined;
}

export function warningsOf(config: ServerConfig): readonly ConfigWarning[] {
  return (config as Warned)[WARNINGS] ?? [];
}

/** The configuration with these warnings in place of any others. */
export function withWarnings<Config extends ServerConfig>(config: Config, warnings: readonly ConfigWarning[]): Config {
  if (warnings.length === 0 && !(WARNINGS in config)) return config;
  return { ...config, [WARNINGS]: warnings };
}
