import { memorySize } from '../../adapters/system/memory-size.js';
import { FaultLog, writeToStandardError } from '../../adapters/telemetry/fault-log.js';
import { BodyBudget } from '../../adapters/web/body-budget.js';
import { bodyMemory, processWide } from './process-memory.js';

/** The memory of request bodies: one for all toolkits of a process, which share its memory. */
export function processBodies(bodyLimitBytes: number): BodyBudget {
  const budget = processWide(
    'agent-bff/bodies@1',
    () => new BodyBudget({ limitBytes: bodyMemory(memorySize()), now: () => performance.now() }),
  );
  budget.admit(bodyLimitBytes);
  return budget;
}

/** The log of faults: one for all toolkits of a process, which share its terminal. */
export function processFaults(): FaultLog {
  return processWide(
    'agent-bff/faults@1',
    () => new FaultLog({ now: () => performance.now(), write: writeToStandardError }),
  );
}
