import { AgentBffError, type ErrorFacts } from './agent-bff-error.js';

/**
 * The configuration is wrong whatever happens later: an address that does not parse, an unknown field, option or strategy.
 * Thrown by `configureServer`, `createToolkit` and every function that takes options, before any request; code `configuration_invalid`.
 *
 * @public
 */
export class ConfigurationError extends AgentBffError {
  /** Always `ConfigurationError`. */
  override readonly name: string = 'ConfigurationError';
  constructor(facts: ErrorFacts) {
    super('configuration_invalid', facts);
  }
}
