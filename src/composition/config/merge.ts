import type { ServerConfig } from './server-config.js';
import { warningsOf, withWarnings } from './warnings.js';

/** Blocks that are merged field by field; `claims` inside one of them is a value like any other. */
const BLOCKS: ReadonlySet<string> = new Set([
  'upstream',
  'paths',
  'headers',
  'serviceAccount',
  'idpA',
  'idpAServiceUser',
  'idpBService',
  'onBehalfOf',
  'timeouts',
]);

/** Merges field by field, also inside blocks: `undefined` leaves a value, an empty string clears it (DESIGN §3). */
export function mergeConfig(current: ServerConfig, changes: ServerConfig): ServerConfig {
  // What is no object is refused where configurations are checked, in words.
  if (typeof changes !== 'object' || changes === null) return changes;
  const merged: Record<string, unknown> = { ...current };
  for (const [name, value] of Object.entries(changes)) {
    if (value === undefined) continue;
    merged[name] = BLOCKS.has(name) && isRecord(value) ? mergeBlock(merged[name], value) : value;
  }
  // Those of earlier calls have been told.
  return withWarnings(merged, warningsOf(changes));
}

function mergeBlock(current: unknown, changes: Record<string, unknown>): Record<string, unknown> {
  const merged: Record<string, unknown> = isRecord(current) ? { ...current } : {};
  for (const [name, value] of Object.entries(changes)) {
    if (value === undefined) continue;
    merged[name] = BLOCKS.has(name) && isRecord(value) ? mergeBlock(merged[name], value) : value;
  }
  return merged;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
