const PARENT_CHECK_MS = 250;

/**
 * Runs `stop` when the process is asked to end: by SIGINT, by SIGTERM, or by the end of the shell in which npm runs it.
 * npm sends SIGTERM to that shell only, and a shell that it ends leaves its child behind with the port still open.
 */
export function onStopRequest(stop: () => Promise<void>): void {
  let isStopping = false;
  const stopOnce = (): void => {
    if (isStopping) return;
    isStopping = true;
    void stop();
  };

  // Once: a second signal ends the process immediately, whatever is still open.
  process.once('SIGINT', stopOnce);
  process.once('SIGTERM', stopOnce);

  const parent = process.ppid;
  if (process.env['npm_lifecycle_event'] === undefined) return;
  setInterval(() => {
    if (process.ppid !== parent) stopOnce();
  }, PARENT_CHECK_MS).unref();
}
