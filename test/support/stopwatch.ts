const TICK_MS = 10;

/**
 * The milliseconds a call takes, on the monotonic clock. `wall` is what passed, for lower limits. `own` leaves out the pauses in
 * which a busy machine ran other processes, for upper limits: between two ticks of 10 ms it counts 20 at most.
 */
export async function timed(call: () => unknown): Promise<{ readonly wall: number; readonly own: number }> {
  const start = performance.now();
  let last = start;
  let own = 0;
  const tick = (): void => {
    const now = performance.now();
    own += Math.min(now - last, 2 * TICK_MS);
    last = now;
  };
  const ticks = setInterval(tick, TICK_MS);
  try {
    await call();
  } finally {
    clearInterval(ticks);
    tick();
  }
  return { wall: last - start, own };
}

/** The milliseconds of processor time that a call takes, whatever else the machine runs. */
export function processorTime(call: () => unknown): number {
  const before = process.cpuUsage();
  call();
  return processorTimeSince(before);
}

export function processorTimeSince(before: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}
