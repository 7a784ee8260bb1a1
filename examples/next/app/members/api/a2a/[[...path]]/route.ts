import { createA2AProxyHandler } from 'agent-bff/next';
import { auth0 } from '../../../../../lib/auth0';

const handler = createA2AProxyHandler({ auth: auth0 });

/** The members' chat: the agent receives the token of the signed-in member, and keeps their conversations apart itself. */
export { handler as GET, handler as POST };
