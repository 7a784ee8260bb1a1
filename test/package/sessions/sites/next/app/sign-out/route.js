import { endSession } from 'agent-bff';
import { cookies } from 'next/headers.js';
import { source } from '../../auth.mjs';

export async function GET(request) {
  await endSession({ auth: source }, request);
  (await cookies()).delete('authjs.session-token');
  return new Response('goodbye');
}
