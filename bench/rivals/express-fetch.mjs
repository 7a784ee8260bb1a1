// What people write: Express, a JSON parser and the built-in fetch.
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import express from 'express';
import { AUTHORIZATION, options, serve } from '../rival-process.mjs';

const app = express();
app.use(express.json({ limit: '2mb' }));
app.post('/api/a2a', async (request, response) => {
  const stop = new AbortController();
  response.on('close', () => stop.abort());
  const answer = await fetch(options.upstream, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: request.headers.accept,
      authorization: AUTHORIZATION,
    },
    body: JSON.stringify(request.body),
    signal: stop.signal,
  });
  response.status(answer.status);
  response.setHeader('content-type', answer.headers.get('content-type'));
  await pipeline(Readable.fromWeb(answer.body), response).catch(() => response.destroy());
});
serve(app);
