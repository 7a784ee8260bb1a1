import { createServiceProxyHandler } from 'agent-bff/next';
import { auth0 } from '../../../../lib/auth0';

/** The members' conversation records. */
export const { GET, HEAD, OPTIONS, POST, PUT, PATCH, DELETE } = createServiceProxyHandler({ auth: auth0 });
