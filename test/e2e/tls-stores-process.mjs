// A process of a site: `node tls-stores-process.mjs`, with the configuration as the first message. Each further message is
// the path of a visit; answered with status and cache result, and all faults of the store so far.
import { createToolkit } from 'agent-bff';
import { createWebHandler } from 'agent-bff/web';

const faults = new Set();
const telemetry = { emit: ({ type, detail }) => type === 'cache_fault' && faults.add(detail) };
const cache = { enabled: true, freshMs: 600_000, maxAgeMs: 600_000 };
let handle;

process.on('message', async ({ config, path, id }) => {
  if (config !== undefined) {
    handle = createWebHandler({ toolkit: createToolkit(config, { telemetry }), surfaces: { cache } });
    return;
  }
  const headers = { 'content-type': 'application/json' };
  const address = `https://site.example/api/service-surfaces${path}`;
  const response = await handle(new Request(address, { method: 'POST', headers, body: '{}' }));
  await response.text();
  process.send({ id, result: [response.status, response.headers.get('x-cache')], faults: [...faults] });
});
process.once('disconnect', () => process.exit(0));
