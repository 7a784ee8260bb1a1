import { auth0 } from './lib/auth0';

/** Serves `/auth/login`, `/auth/callback` and `/auth/logout`. */
export function proxy(request: Request): Promise<Response> {
  return auth0.middleware(request);
}

// Bodies of requests that pass here are copied, up to 10 MB: the API routes stay outside.
export const config = { matcher: '/auth/:path*' };
