import { CHAT_ANSWER } from '../../answer.js';

export async function POST(request) {
  await request.text();
  return new Response(CHAT_ANSWER, { headers: { 'content-type': 'application/json', 'cache-control': 'no-store' } });
}
