import '../../../examples/login/quiet-provider.js';
import type { IncomingMessage } from 'node:http';
import { Provider, type Context } from 'oidc-provider';
import type { JWTPayload } from 'jose';
import { entraError, speakLikeEntra } from './entra-errors.js';
import { registeredCertificates } from './registered-certificates.js';
import { onBehalfOfSubject } from './entra-on-behalf-of.js';
import type { Faults } from './fault.js';
import { privateAuthority } from './private-authority.js';
import { startProviderServer } from './provider-server.js';
import type { RequestLog } from './request-log.js';
import { signingKeys, signUserToken, verifyToken, type UserTokenOptions } from './signing-key.js';

/** Options of the Entra-like provider. */
export interface IdpBOptions {
  /** Certificates in PEM form registered for `client`. One outside its dates is rejected. Default none. */
  readonly certificates?: readonly string[];
  /** Lifetime of its tokens in seconds. Default 300. */
  readonly tokenLifetimeSeconds?: number;
  /** Rejects a client assertion that was used before. Entra accepts it, and msal-node reuses one for ten minutes. Default false. */
  readonly strictAssertions?: boolean;
  /** Uses http instead of https. Default false. */
  readonly insecure?: boolean;
}

/** A running Entra-like provider. */
export interface IdpB {
  readonly tenantId: string;
  /** `https://<host>/<tenant>/v2.0`, like Entra's. */
  readonly issuer: string;
  /** `https://<host>/<tenant>`, the authority in msal-node's terms. */
  readonly authority: string;
  /** Host and port. */
  readonly host: string;
  readonly tokenEndpoint: string;
  /** The authority to trust, in PEM form. */
  readonly ca: string;
  /** The application. It can authenticate with its secret, and with its certificates if it has any. */
  readonly client: { readonly id: string; readonly secret: string };
  /** An application whose secret has expired. */
  readonly expiredClient: { readonly id: string; readonly secret: string };
  /** The audience of tokens, such as `api://platform`. */
  readonly audience: string;
  /** `api://platform/.default`. */
  readonly scope: string;
  /** `/.default` of another API. */
  readonly otherScope: string;
  readonly tokenRequests: RequestLog;
  readonly metadataRequests: RequestLog;
  readonly faults: Faults;
  /** A signed-in user's token for `client`; the users `no-consent`, `second-factor` and `policy` cannot be exchanged. */
  issueUserToken(subject: string, options?: UserTokenOptions): Promise<string>;
  verifyAccessToken(token: string): Promise<JWTPayload>;
  close(): Promise<void>;
}

export const JWT_BEARER = 'urn:ietf:params:oauth:grant-type:jwt-bearer';

const TENANT = '8f6b1d5e-3c1a-4c55-9d6e-0f1e2d3c4b5a';
const AUDIENCE = 'api://platform';
const OTHER_AUDIENCE = 'api://billing';
const client = { id: '1c9a52d7-6a0f-4d0b-8f0a-5b1f2f4f7e11', secret: 'secret~of~the~registered~application' };
const expiredClient = { id: '6d7e1a90-0b7c-4e0c-a1d5-3a1f7c9b2e22', secret: 'secret~that~has~expired' };

/** Starts a provider that looks like Entra ID to a site. */
export async function startIdpB(options: IdpBOptions = {}): Promise<IdpB> {
  const { certificates = [], tokenLifetimeSeconds = 300, strictAssertions = false, insecure = false } = options;
  const server = await startProviderServer({ insecure });
  const authority = `${server.origin}/${TENANT}`;
  const issuer = `${authority}/v2.0`;
  const registered = registeredCertificates(certificates);

  const provider = new Provider(issuer, {
    clients: [registration(client), { ...registration(expiredClient), client_secret_expires_at: 1 }],
    clientAuthMethods: ['client_secret_post', 'client_secret_basic', 'private_key_jwt'],
    enabledJWA: { clientAuthSigningAlgValues: ['RS256', 'PS256'] },
    assertJwtClientAuthClaimsAndHeader: (_: unknown, __: unknown, header: object) => registered.assertHeader(header),
    features: {
      devInteractions: { enabled: false },
      clientCredentials: { enabled: true },
      resourceIndicators: { enabled: true, getResourceServerInfo: (_: unknown, name: string) => api(name) },
    },
    jwks: signingKeys(),
    routes: { token: '/oauth2/v2.0/token', jwks: '/discovery/v2.0/keys' },
  });
  if (!strictAssertions) provider.ReplayDetection.unique = () => Promise.resolve(true);
  acceptSecretOrCertificate(provider, registered.jwks);

  const api = (audience: string): object => ({
    scope: '.default access_as_user',
    audience,
    accessTokenTTL: tokenLifetimeSeconds,
    accessTokenFormat: 'jwt',
    jwt: { sign: { alg: 'RS256' } },
  });

  async function issue(context: Context, accountId: string | undefined, audience: string): Promise<void> {
    const application = context.oidc.client;
    const token =
      accountId === undefined
        ? new provider.ClientCredentials({ client: application })
        : new provider.AccessToken({ client: application, accountId, gty: JWT_BEARER });
    token.resourceServer = new provider.ResourceServer(audience, api(audience));
    const value = await token.save();
    const { expiration } = token;
    context.body = { token_type: 'Bearer', expires_in: expiration, ext_expires_in: expiration, access_token: value };
  }

  provider.registerGrantType(
    'client_credentials',
    async (context) => {
      const scope = requiredScope(context.oidc.params['scope']);
      if (!scope.endsWith('/.default')) {
        throw entraError(400, 'invalid_scope', 1002012, `The provided value for scope ${scope} is not valid.`);
      }
      await issue(context, undefined, knownResource(scope));
    },
    ['scope', 'client_info', 'claims'],
  );
  provider.registerGrantType(
    JWT_BEARER,
    async (context) => {
      const { params } = context.oidc;
      const subject = await onBehalfOfSubject(issuer, context.oidc.client.clientId, params);
      // msal-node adds openid, profile and offline_access to every scope.
      const scopes = requiredScope(params['scope']).split(' ');
      const scope = scopes.find((one) => !['openid', 'profile', 'offline_access'].includes(one));
      await issue(context, subject, knownResource(requiredScope(scope)));
      const info = Buffer.from(JSON.stringify({ uid: subject, utid: TENANT })).toString('base64url');
      if (params['client_info'] === '1') context.body = { ...(context.body as object), client_info: info };
    },
    ['assertion', 'requested_token_use', 'scope', 'client_info', 'claims'],
  );
  provider.use(async (context, next) => {
    await next();
    speakLikeEntra(context, TENANT);
  });

  const callback = provider.callback();
  server.answerWith((request: IncomingMessage & { originalUrl?: string }, response) => {
    const { pathname } = new URL(request.url ?? '/', server.origin);
    const [, tenant = '', ...rest] = pathname.split('/');
    if (tenant !== TENANT) {
      const { body } = entraError(400, 'invalid_tenant', 90002, `Tenant '${tenant}' not found.`);
      response.writeHead(400, { 'content-type': 'application/json' }).end(JSON.stringify(body));
      return;
    }
    // The metadata's addresses are built from the original address, so it must not contain `v2.0`.
    request.url = `/${rest.join('/')}`.replace(/^\/v2\.0(?=\/\.well-known\/)/, '');
    request.originalUrl = `/${TENANT}${request.url}`;
    callback(request, response);
  });

  return {
    tenantId: TENANT,
    issuer,
    authority,
    host: new URL(issuer).host,
    tokenEndpoint: `${authority}/oauth2/v2.0/token`,
    ca: privateAuthority().ca,
    client,
    expiredClient,
    audience: AUDIENCE,
    scope: `${AUDIENCE}/.default`,
    otherScope: `${OTHER_AUDIENCE}/.default`,
    tokenRequests: server.tokenRequests,
    metadataRequests: server.metadataRequests,
    faults: server.faults,
    issueUserToken: (subject, token = {}) => signUserToken(issuer, subject, { audience: client.id, ...token }),
    verifyAccessToken: (token) => verifyToken(issuer, token),
    close: server.close,
  };
}

function requiredScope(scope: string | undefined): string {
  if (scope !== undefined && scope !== '') return scope;
  throw entraError(400, 'invalid_request', 900144, "The request body must contain the following parameter: 'scope'.");
}

function knownResource(scope: string): string {
  const resource = scope.slice(0, scope.lastIndexOf('/'));
  if (resource === AUDIENCE || resource === OTHER_AUDIENCE) return resource;
  const name = resource === '' ? scope : resource;
  throw entraError(
    400,
    'invalid_resource',
    500011,
    `The resource principal named ${name} was not found in the tenant.`,
  );
}

function registration(application: { id: string; secret: string }): Record<string, unknown> {
  return {
    client_id: application.id,
    client_secret: application.secret,
    token_endpoint_auth_method: 'client_secret_post',
    grant_types: ['client_credentials', JWT_BEARER],
    redirect_uris: [],
    response_types: [],
  };
}

// An application in Entra can have secrets and certificates. One in oidc-provider has a single authentication method.
function acceptSecretOrCertificate(provider: Provider, jwks: object): void {
  const find = provider.Client.find.bind(provider.Client);
  const { client_secret: _, ...shared } = registration(client);
  provider.Client.find = async (id) => {
    const context = Provider.ctx;
    if (id !== client.id || context?.oidc.params['client_assertion'] === undefined) return find(id);
    return new provider.Client({ ...shared, token_endpoint_auth_method: 'private_key_jwt', jwks }, context);
  };
}
