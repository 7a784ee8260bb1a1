import type { RequestHandler } from 'express';

/** Passes requests of signed-in users to one handler and all others to another. */
export function bySignIn(forUsers: RequestHandler, forVisitors: RequestHandler): RequestHandler {
  return (request, response, next) => {
    const handler = request.session.user === undefined ? forVisitors : forUsers;
    void handler(request, response, next);
  };
}
