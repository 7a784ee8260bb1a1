import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { AUTHORIZATION, options, serve } from '../rival-process.mjs';

serve(async (request, response) => {
  try {
    const stop = new AbortController();
    response.on('close', () => stop.abort());
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const answer = await fetch(options.upstream, {
      method: 'POST',
      headers: {
        'content-type': request.headers['content-type'],
        accept: request.headers.accept,
        authorization: AUTHORIZATION,
      },
      body: Buffer.concat(chunks),
      signal: stop.signal,
    });
    response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') });
    await pipeline(Readable.fromWeb(answer.body), response);
  } catch {
    response.destroy();
  }
});
