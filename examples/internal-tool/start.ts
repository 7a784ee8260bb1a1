import { openListener } from '../http-listener.js';
import { createInternalTool } from './server.js';

const { server, port } = await openListener(Number(setting('PORT', '3000')), '127.0.0.1');
server.on(
  'request',
  createInternalTool({
    a2aUrl: setting('A2A_URL'),
    tokenEndpoint: setting('TOKEN_ENDPOINT'),
    clientId: setting('CLIENT_ID'),
    audience: setting('AUDIENCE'),
  }),
);
console.log(`internal tool: http://localhost:${port}`);

function setting(name: string, fallback = ''): string {
  const value = process.env[name] ?? fallback;
  if (value !== '') return value;
  console.error(`Set ${name}; see examples/internal-tool/README.md.`);
  process.exit(1);
}
