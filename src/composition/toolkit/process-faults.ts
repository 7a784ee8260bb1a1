import { FaultLog } from '../../adapters/telemetry/fault-log.js';
import { writeToStandardError } from '../../adapters/telemetry/standard-error.js';

const KEY: unique symbol = Symbol.for('agent-bff/faults@1') as never;

/**
 * The log of faults: one for all toolkits of a process, which share its terminal. On a registered symbol of the global object,
 * because a bundler gives each of its entries its own copy of this module.
 */
export function processFaults(): FaultLog {
  const holder = globalThis as { [KEY]?: FaultLog };
  holder[KEY] ??= new FaultLog({ now: () => performance.now(), write: writeToStandardError });
  return holder[KEY];
}
