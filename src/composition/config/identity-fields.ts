import { sha256 } from '../../adapters/system/system.js';
import { canonicalJson } from '../../domain/surfaces/canonical-json.js';
import type { AnyRows, Values } from './schema.js';

/**
 * Names whom the values of these fields stand for. A digest: claims may hold what their owner would not want to see in a cache, and any field a secret that belongs into another.
 * Fields inside further blocks are not part of it, nor is a secret, which nothing can write.
 */
export function principalOf(rows: AnyRows, values: Values): string {
  return sha256(JSON.stringify(onSide('principal', rows, values).map(([name, value]) => [name, spelled(value)])));
}

/** The secrets in the clear, to be kept as a keyed digest only. */
export function proofsOf(rows: AnyRows, values: Values): readonly string[] {
  return onSide('proof', rows, values).map(([, value]) => revealed(value));
}

function onSide(side: string, rows: AnyRows, values: Values): readonly (readonly [name: string, value: unknown])[] {
  return Object.entries(rows).flatMap(([name, row]) => (row.side === side ? [[name, values[name]] as const] : []));
}

/** One text for one value, in whatever order its members are written. */
function spelled(value: unknown): string {
  try {
    const json = JSON.stringify(value ?? null);
    return canonicalJson(json) ?? json;
  } catch {
    return 'not JSON';
  }
}

function revealed(value: unknown): string {
  if (typeof value === 'string') return value;
  return (value as { reveal(): string } | undefined)?.reveal() ?? '';
}
