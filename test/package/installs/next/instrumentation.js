export async function register() {
  if (process.env.NEXT_RUNTIME === 'nodejs') {
    const { configFromEnv, configureServer } = await import('agent-bff');
    configureServer(configFromEnv(process.env));
  }
}
