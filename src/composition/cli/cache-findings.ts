import type { RedisStorage } from '../../adapters/keyv/redis-storage.js';
import { isAgentBffError } from '../../domain/errors.js';
import type { Clock } from '../../ports/clock.js';
import type { Telemetry } from '../../ports/telemetry.js';
import { sharedStore, storeAtAddress } from '../toolkit/cache-stores.js';
import type { ResolvedConfig } from '../config/resolve-config.js';
import type { Finding } from './finding.js';

const LIFE_MS = 60_000;
/** A cold connection takes longer than a call may. */
const PATIENT_MS = 5_000;

/** Writes, reads and removes one entry of the shared cache; nothing when none is configured. */
export async function cacheFindings(config: ResolvedConfig, clock: Clock): Promise<readonly Finding[]> {
  const { cacheStore, cacheAddress, cacheKeys, timeouts } = config;
  if (cacheStore === undefined && cacheAddress === undefined) return [];
  const patient = { ...config, timeouts: { ...timeouts, cacheMs: Math.max(PATIENT_MS, timeouts.cacheMs) } };
  const faults: string[] = [];
  const telemetry: Telemetry = {
    emit: (event) => {
      if (event.type === 'cache_fault') faults.push(event.detail);
    },
  };
  let connected: RedisStorage | undefined;
  try {
    connected = storeAtAddress(patient);
    const store = sharedStore(patient, connected, clock, telemetry);
    const key = `agent-bff:doctor:${crypto.randomUUID()}`;
    await store?.get(key); // Connects.
    const began = performance.now();
    await store?.set(key, 'doctor', clock.now() + LIFE_MS);
    const found = await store?.get(key);
    const ms = (performance.now() - began) / 2;
    await store?.delete(key);
    return [reach(found === 'doctor', faults[0], ms, timeouts.cacheMs), ...keys(cacheKeys.length)];
  } catch (error) {
    if (!isAgentBffError(error)) throw error;
    const { message, block = 'configureServer', fields } = error;
    return [{ check: 'cache store', result: 'failed', message, block, fields }];
  } finally {
    await connected?.close();
  }
}

function reach(isKept: boolean, fault: string | undefined, ms: number, cacheMs: number): Finding {
  const check = 'cache store';
  const block = 'configureServer';
  if (!isKept) {
    const message = fault === undefined ? 'it does not keep what it is given' : `it cannot be used: ${fault}`;
    return { check, result: 'failed', message, block, fields: ['cacheStore'] };
  }
  const message = `a call takes ${ms.toFixed(1)} ms`;
  if (ms <= cacheMs) return { check, result: 'ok', message };
  const late = `${message}, and is given up after ${String(cacheMs)} ms`;
  return { check, result: 'warning', message: late, block: 'timeouts', fields: ['cacheMs'] };
}

function keys(count: number): readonly Finding[] {
  const check = 'cache keys';
  if (count > 0) return [{ check, result: 'ok', message: `${String(count)} configured; tokens are sealed and shared` }];
  const message = 'none, so tokens stay in each process';
  return [{ check, result: 'warning', message, block: 'configureServer', fields: ['cacheKeys'] }];
}
