import type { Secret } from '../../domain/shared/secret.js';
import type { ResolvedConfig } from './resolve-config.js';

/** Every secret of a configuration, for the one place that takes them out of texts. */
export function configuredSecrets(config: ResolvedConfig): string[] {
  return secretsIn(config, 4);
}

function secretsIn(value: unknown, depth: number): string[] {
  if (isSecret(value)) return [value.reveal()];
  if (typeof value !== 'object' || value === null || depth === 0) return [];
  // Only plain blocks: what a site brings, such as a store, is not ours to look into.
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) return [];
  return Object.values(value).flatMap((inner) => secretsIn(inner, depth - 1));
}

function isSecret(value: unknown): value is Secret {
  return typeof (Object(value) as Partial<Secret>).reveal === 'function';
}
