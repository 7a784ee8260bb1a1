import type { Request, RequestHandler } from 'express';
import { decodeJwt, errors } from 'jose';

import { recordSubject } from '../request-log.js';
import type { ServiceAccounts } from './service-accounts.js';
import { TokenRefused } from './token-refused.js';
import type { TrustedIssuers } from './trusted-issuers.js';

/**
 * Admits requests with a token of a service account or of a user, and stores the caller in `response.locals.subject`.
 * Runs before the SDK's handler, which would respond to a failed authentication with 500 instead of 401.
 */
export function requireToken(accounts: ServiceAccounts, issuers: TrustedIssuers): RequestHandler {
  return async (request, response, next) => {
    try {
      const token = bearerToken(request);
      const issuer = issuerOf(token);
      const subject = issuers.has(issuer) ? await issuers.verify(token, issuer) : await accounts.verify(token);
      recordSubject(request, subject);
      response.locals['subject'] = subject;
    } catch (error) {
      if (!(error instanceof TokenRefused)) throw error;
      response
        .status(401)
        .set('www-authenticate', 'Bearer error="invalid_token"')
        .json({ error: 'invalid_token', error_description: error.message });
      return;
    }
    next();
  };
}

function bearerToken(request: Request): string {
  const [, token] = /^Bearer +(\S+)$/i.exec(request.get('authorization') ?? '') ?? [];
  if (token === undefined) throw new TokenRefused('A bearer token is needed.');
  return token;
}

/** The issuer the token claims; not verified yet. */
function issuerOf(token: string): string | undefined {
  try {
    return decodeJwt(token).iss;
  } catch (error) {
    throw error instanceof errors.JOSEError ? new TokenRefused('The token is not a JWT.') : error;
  }
}
