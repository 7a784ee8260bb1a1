import { initApiPassthrough } from 'langgraph-nextjs-api-passthrough';
import { AUTHORIZATION, UPSTREAM } from '../../../answer.js';

const { POST: pass } = initApiPassthrough({
  apiUrl: new URL(UPSTREAM).origin,
  apiKey: 'bench',
  runtime: 'nodejs',
  baseRoute: 'passthrough/',
  headers: () => ({ authorization: AUTHORIZATION }),
  disableWarningLog: true,
});

export const POST = pass;
