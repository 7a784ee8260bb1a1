import { DeadlineError, inTime } from '../../adapters/system/timed-ports.js';
import { withoutSecrets } from '../../domain/shared/redaction.js';
import { requestSecrets } from '../../adapters/telemetry/request-scope.js';
import { Credential } from '../../domain/credentials/credential.js';
import type { CredentialAuth } from '../../domain/credentials/credential-broker.js';
import type { HeadersAuth, RouteAuth } from '../../domain/credentials/route-auth.js';
import { isAgentBffError, ServiceAuthError } from '../../domain/errors.js';
import type { HeaderFields } from '../../ports/http.js';
import type { SiteFieldOptions } from './site-fields.js';
import { type GetHeaders, headerFields, type HeadersLike } from './header-fields.js';

export type { GetHeaders, HeadersLike } from './header-fields.js';

/**
 * Options of the config route.
 *
 * @public
 */
export interface ConfigHandlerOptions extends SiteFieldOptions {
  /** Whatever it returns are the credentials of the look-ups. Default: the credential of the chat route. */
  readonly getHeaders?: GetHeaders | undefined;
}

/** Fields that belong to the message and not to the caller: a copy of them would break or redirect the call. */
const MESSAGE_FIELDS: ReadonlySet<string> = new Set([
  'connection',
  'content-length',
  'host',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** The auth of the config route: the site's own headers where it makes them, else the credential of the chat. */
export function configAuth(chat: CredentialAuth, getHeaders: GetHeaders | undefined): RouteAuth {
  return getHeaders === undefined ? chat : headersAuth(getHeaders);
}

/** A `RouteAuth` whose credentials are the headers a site makes for each request; they have no name, so nothing is shared by it. */
export function headersAuth(getHeaders: GetHeaders): HeadersAuth {
  return {
    kind: 'headers',
    obtain: async ({ native, headers }) =>
      new Credential({
        kind: 'session',
        headers: await madeHeaders(getHeaders, native.request, headers),
        identity: undefined,
        block: 'getHeaders',
        cacheKey: undefined,
        token: undefined,
      }),
  };
}

/** The same auth, whose requests do not wait for ever for the site's own headers. */
export function timedAuth(auth: RouteAuth, ms: number): RouteAuth {
  if (auth.kind !== 'headers') return auth;
  return {
    ...auth,
    obtain: async (request) => {
      try {
        return await inTime(auth.obtain(request), ms, 'the site');
      } catch (error) {
        throw error instanceof DeadlineError ? notMade(error.message) : error;
      }
    },
  };
}

async function madeHeaders(
  getHeaders: GetHeaders,
  request: unknown,
  visitor: HeaderFields,
): Promise<Record<string, string>> {
  let made: HeadersLike;
  try {
    // `never` in the type lets a site name its own framework's request there.
    made = await getHeaders(request as never);
  } catch (error) {
    if (isAgentBffError(error)) throw error;
    const text = error instanceof Error ? `${error.name}: ${error.message}` : typeof error;
    // What reads a session quotes the cookie it cannot read.
    throw notMade(withoutSecrets(text, requestSecrets(visitor)));
  }
  try {
    const fields = Object.entries(headerFields(made));
    return Object.fromEntries(fields.filter(([name]) => !MESSAGE_FIELDS.has(name)));
  } catch (error) {
    throw notMade((error as Error).message);
  }
}

function notMade(log: string): ServiceAuthError {
  return new ServiceAuthError('service_auth_failed', {
    detail: 'The headers for the platform could not be made.',
    hint: 'Check the function given as "getHeaders" or "configGetHeaders"; the server log says what failed.',
    block: 'getHeaders',
    log,
  });
}
