import { auth0 } from './lib/auth0';

/** Serves `/auth/login`, `/auth/callback` and `/auth/logout`. */
export function proxy(request: Request): Promise<Response> {
  return auth0.middleware(request);
}

// Next copies request bodies that pass through here, up to 10 MB, so the API routes are excluded.
export const config = { matcher: '/auth/:path*' };
