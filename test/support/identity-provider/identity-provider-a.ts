import '../../../examples/login/quiet-provider.js';
import { Provider, errors, type Context } from 'oidc-provider';
import type { JWTPayload } from 'jose';
import type { Faults } from './fault.js';
import { privateAuthority } from './private-authority.js';
import { startProviderServer } from './provider-server.js';
import type { RequestLog } from './request-log.js';
import { signingKeys, signUserToken, verifyToken, type UserTokenOptions } from './signing-key.js';

/** Options of the Auth0-like provider. */
export interface IdpAOptions {
  /** Lifetime of its tokens in seconds. Default 300. */
  readonly tokenLifetimeSeconds?: number;
  /** True if a password grant without realm uses a default directory. Default true. */
  readonly defaultDirectory?: boolean;
  /** Uses http instead of https. Default false. */
  readonly insecure?: boolean;
  /** Takes the client secret in `Authorization` only, which its metadata says. Default false. */
  readonly basic?: boolean;
}

/** A running Auth0-like provider. */
export interface IdpA {
  /** With a trailing slash, like Auth0's. */
  readonly issuer: string;
  /** Host and port, as a site configures them. */
  readonly domain: string;
  readonly tokenEndpoint: string;
  /** The authority to trust, in PEM form. */
  readonly ca: string;
  /** An application that may use every grant. */
  readonly client: { readonly id: string; readonly secret: string };
  /** An application that may use client credentials only. */
  readonly machineClient: { readonly id: string; readonly secret: string };
  /** A public application for browsers: no secret, the password grant only, any origin. */
  readonly browserClient: { readonly id: string };
  readonly user: { readonly username: string; readonly password: string };
  /** A user in a directory other than the default. */
  readonly employee: { readonly username: string; readonly password: string; readonly realm: string };
  /** The audience of tokens. Its scopes are `read` and `chat`. */
  readonly audience: string;
  /** Another API with the same scopes. */
  readonly otherAudience: string;
  readonly tokenRequests: RequestLog;
  readonly metadataRequests: RequestLog;
  readonly faults: Faults;
  /** A signed-in user's token. */
  issueUserToken(subject: string, options?: UserTokenOptions): Promise<string>;
  verifyAccessToken(token: string): Promise<JWTPayload>;
  close(): Promise<void>;
}

export const PASSWORD_REALM = 'http://auth0.com/oauth/grant-type/password-realm';
export const TOKEN_EXCHANGE = 'urn:ietf:params:oauth:grant-type:token-exchange';

const AUDIENCE = 'https://platform.example/api';
const OTHER_AUDIENCE = 'https://billing.example/api';
const SCOPES = ['read', 'chat'];
const DEFAULT_REALM = 'Username-Password-Authentication';
const PUBLIC = { client_secret: undefined, token_endpoint_auth_method: 'none' };
const user = { username: 'service@site.example', password: 'correct horse battery staple' };
const employee = { username: 'robot@corp.example', password: 'tr0ub4dor & three', realm: 'employees' };
const client = { id: 'site-application', secret: 'secret-of-the-site-application' };
const browserClient = { id: 'browser-application' };
const machineClient = { id: 'machine-application', secret: 'secret-of-the-machine-application' };

/**
 * Starts a provider that looks like Auth0 to a site.
 * The users `mfa@…`, `enrol@…`, `rule@…` and `locked@site.example` have the service user's password and are rejected with Auth0's reasons.
 */
export async function startIdpA(options: IdpAOptions = {}): Promise<IdpA> {
  const { tokenLifetimeSeconds = 300, defaultDirectory = true, insecure = false, basic = false } = options;
  const way = basic ? 'client_secret_basic' : 'client_secret_post';
  const server = await startProviderServer({ insecure });
  const issuer = `${server.origin}/`;
  const directories: Record<string, Map<string, string>> = {
    [DEFAULT_REALM]: new Map([
      [user.username, user.password],
      ...Object.keys(POLICIES).map((name): [string, string] => [name, user.password]),
    ]),
    [employee.realm]: new Map([[employee.username, employee.password]]),
  };

  const provider = new Provider(issuer, {
    clients: [
      registration(client, ['password', PASSWORD_REALM, 'client_credentials', TOKEN_EXCHANGE], way),
      registration(machineClient, ['client_credentials'], way),
      { ...registration({ ...browserClient, secret: '' }, ['password'], way), ...PUBLIC },
    ],
    clientAuthMethods: basic ? [way, 'none'] : ['client_secret_post', 'client_secret_basic', 'none'],
    clientBasedCORS: (_: unknown, __: unknown, { clientId }: { clientId: string }) => clientId === browserClient.id,
    features: {
      devInteractions: { enabled: false },
      clientCredentials: { enabled: true },
      resourceIndicators: { enabled: true, getResourceServerInfo: (_: unknown, name: string) => api(name) },
    },
    jwks: signingKeys(),
    ttl: { AccessToken: tokenLifetimeSeconds, ClientCredentials: tokenLifetimeSeconds },
    routes: { token: '/oauth/token', jwks: '/.well-known/jwks.json' },
  });

  const api = (audience: string): object => {
    if (audience !== AUDIENCE && audience !== OTHER_AUDIENCE)
      throw refusal(403, 'access_denied', `Service not found: ${audience}`);
    const sign = { alg: 'RS256' };
    return {
      scope: SCOPES.join(' '),
      audience,
      accessTokenTTL: tokenLifetimeSeconds,
      accessTokenFormat: 'jwt',
      jwt: { sign },
    };
  };

  async function issue(context: Context, accountId: string | undefined): Promise<Record<string, unknown>> {
    const { params, client: application } = context.oidc;
    const unknown = (params['scope'] ?? '').split(' ').filter((scope) => scope !== '' && !SCOPES.includes(scope));
    if (unknown.length > 0) throw refusal(400, 'invalid_scope', `Scope not allowed: ${unknown.join(' ')}`);
    const { audience } = params;
    const token =
      accountId === undefined
        ? new provider.ClientCredentials({ client: application })
        : new provider.AccessToken({ client: application, accountId, gty: params['grant_type'] });
    // Without an audience, Auth0 issues an opaque token that is valid for its user endpoint only.
    if (audience !== undefined) token.resourceServer = new provider.ResourceServer(audience, api(audience));
    token.scope = params['scope'] ?? SCOPES.join(' ');
    const value = await token.save();
    return { access_token: value, token_type: 'Bearer', expires_in: token.expiration, scope: token.scope };
  }

  async function withPassword(context: Context): Promise<void> {
    const { params } = context.oidc;
    const realm = params['realm'] ?? (defaultDirectory ? DEFAULT_REALM : undefined);
    if (realm === undefined) {
      throw refusal(403, 'server_error', 'Authorization server not configured with default connection.');
    }
    const directory = directories[realm];
    if (directory === undefined) throw refusal(400, 'invalid_request', `unknown realm: ${realm}`);
    const username = params['username'] ?? '';
    const password = directory.get(username);
    if (password === undefined || password !== params['password']) {
      throw refusal(403, 'invalid_grant', 'Wrong email or password.');
    }
    const policy = POLICIES[username];
    if (policy !== undefined) throw refusal(...policy);
    context.body = await issue(context, `auth0|${username}`);
  }

  provider.registerGrantType('password', withPassword, ['username', 'password', 'audience', 'scope']);
  provider.registerGrantType(PASSWORD_REALM, withPassword, ['username', 'password', 'audience', 'scope', 'realm']);
  provider.registerGrantType(
    'client_credentials',
    async (context) => {
      context.body = await issue(context, undefined);
    },
    ['audience', 'scope'],
  );
  provider.registerGrantType(
    TOKEN_EXCHANGE,
    async (context) => {
      const subject = await subjectOf(issuer, context.oidc.params);
      context.body = {
        ...(await issue(context, subject)),
        issued_token_type: 'urn:ietf:params:oauth:token-type:access_token',
      };
    },
    ['subject_token', 'subject_token_type', 'requested_token_type', 'audience', 'scope'],
  );
  provider.use(async (context, next) => {
    await next();
    speakLikeAuth0(context);
  });
  server.answerWith(provider.callback());

  return {
    issuer,
    domain: new URL(issuer).host,
    tokenEndpoint: `${issuer}oauth/token`,
    ca: privateAuthority().ca,
    client,
    machineClient,
    browserClient,
    user,
    employee,
    audience: AUDIENCE,
    otherAudience: OTHER_AUDIENCE,
    tokenRequests: server.tokenRequests,
    metadataRequests: server.metadataRequests,
    faults: server.faults,
    issueUserToken: (subject, token = {}) => signUserToken(issuer, subject, { audience: client.id, ...token }),
    verifyAccessToken: (token) => verifyToken(issuer, token),
    close: server.close,
  };
}

// Auth0's errors for a correct password that a policy rejects.
const POLICIES: Readonly<Record<string, [number, string, string]>> = {
  'mfa@site.example': [403, 'mfa_required', 'Multifactor authentication required'],
  'enrol@site.example': [403, 'mfa_registration_required', 'User is not enrolled with guardian'],
  'rule@site.example': [403, 'access_denied', 'Access denied by a rule of the tenant.'],
  'locked@site.example': [
    429,
    'too_many_attempts',
    'Your account has been blocked after multiple consecutive login attempts.',
  ],
};

async function subjectOf(issuer: string, params: Context['oidc']['params']): Promise<string> {
  if (params['subject_token_type'] !== 'urn:ietf:params:oauth:token-type:access_token') {
    throw refusal(400, 'invalid_request', 'subject_token_type is not supported');
  }
  const payload = await verifyToken(issuer, params['subject_token'] ?? '').catch(() => {
    throw refusal(400, 'invalid_grant', 'The subject_token is expired or was not issued here.');
  });
  if (payload.sub === 'no-consent') throw refusal(403, 'consent_required', 'The user has not consented.');
  if (payload.sub === 'second-factor') throw refusal(403, 'interaction_required', 'A second factor is required.');
  return payload.sub ?? '';
}

function registration(application: { id: string; secret: string }, grants: readonly string[], way: string): object {
  return {
    client_id: application.id,
    client_secret: application.secret,
    token_endpoint_auth_method: way,
    grant_types: grants,
    redirect_uris: [],
    response_types: [],
  };
}

function refusal(status: number, error: string, description: string): Error {
  return Object.assign(new errors.CustomOIDCProviderError(error, description), { status, statusCode: status });
}

// Auth0 has other texts for two errors: a wrong client secret, and a grant that is not allowed.
function speakLikeAuth0(context: Context): void {
  const body = context.body as { error?: string; error_description?: string } | undefined;
  if (body?.error === 'invalid_client' && context.oidc.entities.Client !== undefined) {
    context.body = { error: 'access_denied', error_description: 'Unauthorized' };
  } else if (body?.error_description === 'requested grant type is not allowed for this client') {
    context.status = 403;
    const grant = context.oidc.params['grant_type'];
    context.body = {
      error: 'unauthorized_client',
      error_description: `Grant type '${grant}' not allowed for the client.`,
    };
  }
}
