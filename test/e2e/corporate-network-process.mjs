// A process of a site: `node corporate-network-process.mjs <configuration>`. Sends a chat message, asks the platform for its
// brand, and prints the status, the brand and what the site reports to its operator.
import { createToolkit } from 'agent-bff';
import { createWebHandler } from 'agent-bff/web';

const reports = [];
const telemetry = { emit: ({ type, detail, log }) => reports.push([type, detail, log].filter(Boolean).join(': ')) };
const toolkit = createToolkit(JSON.parse(process.argv[2]), { telemetry });
const message = { kind: 'message', messageId: '1', role: 'user', parts: [{ kind: 'text', text: 'hello' }] };
const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'message/send', params: { message } });
const headers = { 'content-type': 'application/json' };
const request = new Request('https://site.example/api/a2a', { method: 'POST', headers, body });
const response = await createWebHandler({ toolkit, a2a: { conversations: 'open' } })(request);
const text = await response.text();
const brand = await toolkit.brandCss().catch(() => '');
await toolkit.close();
process.stdout.write(JSON.stringify({ status: response.status, text, brand, reports }));
