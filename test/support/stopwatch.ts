/** How long a call takes on the machine's monotonic clock, in milliseconds. */
export async function timed(call: () => unknown): Promise<number> {
  const start = performance.now();
  await call();
  return performance.now() - start;
}
