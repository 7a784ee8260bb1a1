// The smallest forwarder one can write with Express, a JSON parser and undici's dispatcher.
import express from 'express';
import { Pool } from 'undici';
import { AUTHORIZATION, serve, upstreamOrigin, upstreamPath } from '../rival-process.mjs';
import { dispatchToResponse } from './dispatch-to-response.mjs';

const pool = new Pool(upstreamOrigin, { pipelining: 1 });
const app = express();
app.use(express.json({ limit: '2mb' }));
app.post('/api/a2a', (request, response) => {
  const { accept, 'accept-language': language } = request.headers;
  const headers = {
    'content-type': 'application/json',
    accept,
    'accept-language': language,
    authorization: AUTHORIZATION,
  };
  const body = JSON.stringify(request.body);
  pool.dispatch({ path: upstreamPath, method: 'POST', headers, body, bodyTimeout: 0 }, dispatchToResponse(response));
});
serve(app);
