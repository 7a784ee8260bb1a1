/** Next calls this once when the server starts, before the first request. */
export async function register(): Promise<void> {
  // A block, not an early return: only then do both bundlers leave the package out of the build for the edge.
  if (process.env.NEXT_RUNTIME === 'nodejs') {
    const { configFromEnv, configureServer } = await import('agent-bff');
    configureServer(configFromEnv(process.env));
  }
}
