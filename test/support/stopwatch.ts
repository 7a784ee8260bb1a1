/** The duration of a call in milliseconds, on the monotonic clock. */
export async function timed(call: () => unknown): Promise<number> {
  const start = performance.now();
  await call();
  return performance.now() - start;
}
