export async function register() {
  if (process.env.NEXT_RUNTIME === 'nodejs') {
    const { configureServer, loggerTelemetry } = await import('agent-bff');
    const quiet = () => undefined;
    const log = (fields, message) => console.log(message, JSON.stringify(fields));
    configureServer({
      a2aUrl: process.env.A2A_URL,
      telemetry: loggerTelemetry({ debug: quiet, info: quiet, warn: log, error: log }),
    });
  }
}
