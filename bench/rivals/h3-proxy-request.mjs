import { H3, proxyRequest } from 'h3';
import { toNodeHandler } from 'h3/node';
import { AUTHORIZATION, options, serve } from '../rival-process.mjs';

const app = new H3();
app.post('/api/a2a', (event) => proxyRequest(event, options.upstream, { headers: { authorization: AUTHORIZATION } }));
serve(toNodeHandler(app));
