import { Pool } from 'undici';
import { AUTHORIZATION, serve, upstreamOrigin, upstreamPath } from '../rival-process.mjs';
import { dispatchToResponse } from './dispatch-to-response.mjs';

const pool = new Pool(upstreamOrigin, { pipelining: 1 });

serve((request, response) => {
  const chunks = [];
  request.on('data', (chunk) => chunks.push(chunk));
  request.on('end', () => {
    const { 'content-type': type, accept, 'accept-language': language } = request.headers;
    const headers = { 'content-type': type, accept, 'accept-language': language, authorization: AUTHORIZATION };
    const body = chunks.length === 1 ? chunks[0] : Buffer.concat(chunks);
    pool.dispatch({ path: upstreamPath, method: 'POST', headers, body, bodyTimeout: 0 }, dispatchToResponse(response));
  });
});
