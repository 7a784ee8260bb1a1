/** Next calls this once when the server starts, before the first request. */
export async function register(): Promise<void> {
  if (process.env['NEXT_RUNTIME'] !== 'nodejs') return;
  const { configFromEnv, configureServer } = await import('agent-bff');
  // A wrong value ends the start and names the field; a missing one is reported when it is first needed.
  configureServer(configFromEnv(process.env));
}
