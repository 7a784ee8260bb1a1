// The route as most sites write it.
import { AUTHORIZATION, UPSTREAM } from '../../answer.js';

export async function POST(request) {
  const answer = await fetch(UPSTREAM, {
    method: 'POST',
    headers: {
      'content-type': request.headers.get('content-type'),
      accept: request.headers.get('accept'),
      authorization: AUTHORIZATION,
    },
    body: await request.text(),
    signal: request.signal,
  });
  return new Response(answer.body, {
    status: answer.status,
    headers: { 'content-type': answer.headers.get('content-type'), 'cache-control': 'no-store' },
  });
}
