import { afterAll, describe, expect, it } from 'vitest';
import { FakeIdentityProvider, FakeUpstream, RecordingTelemetry } from '../../src/adapters/fakes/fakes.js';
import { configFromEnv } from '../../src/composition/config/env.js';
import { mergeConfig } from '../../src/composition/config/resolve-config.js';
import type { ServerConfig } from '../../src/composition/config/server-config.js';
import { createToolkit } from '../../src/composition/toolkit/toolkit.js';
import { makeClientCertificate, removeClientCertificates } from '../support/identity-provider/index.js';

const { certificatePath, privateKeyPath } = makeClientCertificate();
afterAll(removeClientCertificates);

const BASE: ServerConfig = {
  authProvider: 'idp_b',
  idpBService: { tenantId: 'tenant-1', clientId: 'client', scope: 'api://app/.default' },
};

/** Returns the client secret or certificate sent to the provider, or the fields of the error, and the logged warnings. */
async function proved(config: ServerConfig): Promise<readonly unknown[]> {
  let used = 'nothing';
  const telemetry = new RecordingTelemetry();
  const toolkit = createToolkit(config, {
    upstream: new FakeUpstream(),
    telemetry,
    identityFetch: (input, init) => {
      const { origin } = new URL(String(input instanceof Request ? input.url : input));
      if ((init?.method ?? 'GET') === 'GET') {
        const endpoints = { token_endpoint: `${origin}/token`, authorization_endpoint: `${origin}/authorize` };
        return Promise.resolve(Response.json({ issuer: origin, jwks_uri: `${origin}/keys`, ...endpoints }));
      }
      const form = new URLSearchParams(init?.body as string);
      used = form.has('client_assertion') ? 'certificate' : (form.get('client_secret') ?? 'nothing');
      return Promise.resolve(Response.json({ access_token: 'token', token_type: 'Bearer', expires_in: 3_600 }));
    },
  });
  const options = { authClient: () => 'token-of-ada' } as never;
  const asked =
    config.onBehalfOf === undefined
      ? toolkit.authHeaders()
      : toolkit.sessionHeaders({ ...(options as object) } as never);
  const error = await asked.then(
    () => undefined,
    ({ fields }: { fields: readonly string[] }) => fields,
  );
  return [error ?? used, telemetry.of('warning').map(({ code, detail }) => [code, detail])];
}

const SECRET = { clientSecret: 'secret' };
const PAIR = { certificatePath, privateKeyPath };
const inEnv = (values: Record<string, string | undefined>): ServerConfig =>
  configFromEnv({
    IDP_B_CLIENT_SECRET: values['clientSecret'],
    IDP_B_CERTIFICATE_PATH: values['certificatePath'],
    IDP_B_PRIVATE_KEY_PATH: values['privateKeyPath'],
  });
const inCode = (idpBService: object): ServerConfig => ({ idpBService });

const BOTH = (block: string): unknown => [
  ['client_secret_unused', `${block} has both certificatePath and clientSecret; the certificate is used`],
];

describe('idpBService with a certificate and a client secret', () => {
  it.each<[string, readonly ServerConfig[]]>([
    ['secret set last', [inCode(PAIR), inCode(SECRET)]],
    ['certificate set last', [inCode(SECRET), inCode(PAIR)]],
    ['secret set last, from the environment', [inCode(PAIR), inEnv(SECRET)]],
    ['one field per call', [inCode({ privateKeyPath }), inCode(SECRET), inCode({ certificatePath }), inCode(SECRET)]],
  ])('authenticates with the certificate and warns once: %s', async (_order, calls) => {
    const config = calls.reduce(mergeConfig, BASE);
    expect(await proved(config)).toEqual(['certificate', BOTH('idpBService')]);
  });

  it('uses the secret after the certificate is cleared, and names the missing fields after both are', async () => {
    const both = mergeConfig(BASE, inCode({ ...SECRET, ...PAIR }));
    const cleared = { certificatePath: '', privateKeyPath: '' };
    expect(await proved(mergeConfig(both, inCode(cleared)))).toEqual(['secret', []]);
    expect(await proved(mergeConfig(both, inCode({ clientSecret: '' })))).toEqual(['certificate', []]);
    const none = mergeConfig(both, inCode({ ...cleared, clientSecret: '' }));
    expect(await proved(none)).toEqual([['clientSecret', 'certificatePath', 'privateKeyPath'], []]);
  });

  it('names the missing private key of the certificate instead of using the secret', async () => {
    const [fields] = await proved(mergeConfig(BASE, inCode({ ...SECRET, certificatePath })));
    expect(fields).toEqual(['privateKeyPath']);
  });

  it('uses the secret and warns about a private key without a certificate', async () => {
    expect(await proved(mergeConfig(BASE, inCode({ ...SECRET, privateKeyPath })))).toEqual([
      'secret',
      [['certificate_incomplete', 'idpBService has privateKeyPath without certificatePath; clientSecret is used']],
    ]);
  });
});

describe('onBehalfOf with a certificate and a client secret', () => {
  const users = (onBehalfOf: object): ServerConfig => ({ onBehalfOf: { clientId: 'exchanger', ...onBehalfOf } });

  it('authenticates with the certificate and warns once', async () => {
    const config = [SECRET, PAIR].map(users).reduce(mergeConfig, BASE);
    expect(await proved(config)).toEqual(['certificate', BOTH('onBehalfOf')]);
  });

  it('falls back to idpBService when it has neither', async () => {
    const config = mergeConfig(mergeConfig(BASE, inCode({ ...SECRET, ...PAIR })), users({}));
    expect(await proved(config)).toEqual(['certificate', BOTH('idpBService')]);
  });
});

describe('onBehalfOf without a provider name', () => {
  it('names "provider" before the fields of any provider', async () => {
    const own = new FakeIdentityProvider('own');
    const config = { authProvider: 'own' as const, identityProviders: { own }, onBehalfOf: {} };
    expect(await proved(config)).toEqual([['provider'], []]);
    expect(await proved({ ...config, onBehalfOf: { provider: 'idp_a' } })).toEqual([
      ['domain', 'clientId', 'clientSecret'],
      [],
    ]);
  });
});
