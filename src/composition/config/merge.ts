import { warningsOf, withWarnings } from './env.js';
import { type AnyRows, FIELDS, isObject, type Values } from './schema.js';
import type { ServerConfig } from './server-config.js';

/**
 * Merges field by field, also inside blocks: `undefined` leaves a value, an empty string clears it (spec §2.1).
 * A value given in one form replaces one given earlier in another: a key file the key that was configured as text.
 */
export function mergeConfig(current: ServerConfig, changes: ServerConfig): ServerConfig {
  // What is no object is refused where configurations are checked, in words.
  if (!isObject(changes)) return changes as ServerConfig;
  // Warnings of earlier calls have been reported.
  return withWarnings(merged(FIELDS, current as Values, changes), warningsOf(changes));
}

function merged(rows: AnyRows, current: Values, changes: Values): Values {
  // A map, since `__proto__` as a property of an object would vanish here, and pass where unknown names are refused.
  const values = new Map(Object.entries(current));
  for (const [name, value] of Object.entries(changes)) {
    if (value === undefined) continue;
    const { fields, replaces = [] } = (Object.hasOwn(rows, name) ? rows[name] : undefined) ?? {};
    const replaced = value === '' ? [] : replaces.filter((other) => changes[other] === undefined);
    for (const other of replaced) values.delete(other);
    const isBlock = fields !== undefined && isObject(value) && !Array.isArray(value);
    values.set(name, isBlock ? merged(fields, (values.get(name) ?? {}) as Values, value) : value);
  }
  return Object.fromEntries(values);
}
