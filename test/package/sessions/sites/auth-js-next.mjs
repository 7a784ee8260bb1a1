// Auth.js on Next, after `next build next`.
import { createServer } from 'node:http';

const { SITE } = process.env;
Object.assign(process.env, { NODE_ENV: 'production', NEXT_TELEMETRY_DISABLED: '1', AUTH_URL: SITE });
const { default: next } = await import('next');
const port = Number(process.env.PORT ?? new URL(SITE).port);
const app = next({ dir: 'next', port, hostname: 'localhost' });
await app.prepare();
createServer(app.getRequestHandler()).listen(port, () => console.log(`ready ${SITE}`));
