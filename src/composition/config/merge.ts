import { MERGED } from './schema.js';
import type { ServerConfig } from './server-config.js';
import { warningsOf, withWarnings } from './warnings.js';

/** Merges field by field, also inside blocks: `undefined` leaves a value, an empty string clears it (spec §2.1). */
export function mergeConfig(current: ServerConfig, changes: ServerConfig): ServerConfig {
  // What is no object is refused where configurations are checked, in words.
  if (typeof changes !== 'object' || changes === null) return changes;
  // Warnings of earlier calls have been reported.
  return withWarnings(mergeBlock(current, { ...changes }), warningsOf(changes));
}

function mergeBlock(current: unknown, changes: Record<string, unknown>): Record<string, unknown> {
  const merged: Record<string, unknown> = isRecord(current) ? { ...current } : {};
  for (const [name, value] of Object.entries(changes)) {
    if (value === undefined) continue;
    merged[name] = MERGED.has(name) && isRecord(value) ? mergeBlock(merged[name], value) : value;
  }
  return merged;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
