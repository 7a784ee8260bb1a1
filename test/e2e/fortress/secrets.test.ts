import { randomUUID } from 'node:crypto';
import * as api from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { createGetHeadersForSession, createToolkit, fromFunction, type ServerConfig } from 'agent-bff';
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { resolveConfig } from '../../../src/composition/config/resolve-config.js';
import { runCommandLine } from '../../support/command-line.js';
import { type Fault, runIdpA, runIdpB } from '../../support/identity-provider/index.js';
import { type Answer, type Exchange, RecordingUpstream } from '../../support/recording-upstream.js';
import { newServiceAccountKey } from '../../support/service-account.js';
import { applicationSecret, identityFetch, passwordGrant } from '../credentials/credential-site.js';
import { SecretScan } from './secret-scan.js';
import { learnTokens, startSecretiveSite } from './secretive-site.js';
import { chatRoute } from '../../support/toolkit-routes.js';

const spans = new InMemorySpanExporter();
const { idp: idpA, trusting: trustingA } = await runIdpA();
const { idp: idpB, trusting: trustingB } = await runIdpB();
const { privateKey: serviceKey } = await newServiceAccountKey();

beforeAll(() => {
  api.context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  api.trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(spans)] }));
});
afterEach(() => spans.reset());
afterAll(() => {
  api.context.disable();
  api.trace.disable();
});

/** Responses of a careless or hostile platform that echo the request. */
const sent = ({ request }: Exchange): string => JSON.stringify(request.fields);
const asText = (exchange: Exchange): string => encodeURIComponent(sent(exchange));
const echoed = (exchange: Exchange): Record<string, string> => {
  const value = asText(exchange);
  return {
    authorization: value,
    'www-authenticate': `Bearer error="${value}"`,
    'x-debug': value,
    'set-cookie': `a=${value}`,
    warning: value,
  };
};

const ANSWERS: Readonly<Record<string, Answer>> = {
  'an answer to everything': (exchange) => exchange.json(200, { jsonrpc: '2.0', id: 7, result: {} }, { etag: '"1"' }),
  ...Object.fromEntries(
    [400, 401, 403, 404, 429, 500, 502, 503].map((status): [string, Answer] => [
      `${String(status)} with an echo`,
      (exchange) => exchange.head(status, { 'content-type': 'text/plain', ...echoed(exchange) }).end(sent(exchange)),
    ]),
  ),
  'a redirect with an echo': (exchange) =>
    exchange.head(302, { location: `https://elsewhere.example/?${asText(exchange)}` }).end(),
  'garbage with an echo': (exchange) => exchange.raw(`${sent(exchange)}\r\n\r\n`).fin(),
  'a reset connection': (exchange) => exchange.reset(),
  silence: () => undefined,
  'a stream that breaks after an echo': (exchange) =>
    exchange.eventStream(echoed(exchange)).write('data: one\n\n').reset(),
  'invalid JSON': (exchange) =>
    exchange.head(200, { 'content-type': 'application/json', ...echoed(exchange) }).end(`{"${sent(exchange)}`),
};

/** One way to authenticate the site: configuration, secrets, and the provider that can fail. */
interface Way {
  readonly config: ServerConfig;
  readonly secrets: Readonly<Record<string, string>>;
  readonly ports: Parameters<typeof createToolkit>[1];
  readonly provider?: { readonly faults: { token?: Fault } };
}

const WAYS: Readonly<Record<string, () => Way>> = {
  'a service account': () => ({
    config: {
      serviceAuthStrategy: 'service_account',
      serviceAccount: { serviceAccountId: 'sa', keyId: 'key', privateKeyPem: serviceKey },
    },
    secrets: { 'the private key': serviceKey },
    ports: {},
  }),
  'a service user': () => ({
    config: passwordGrant(idpA),
    secrets: { 'the client secret': idpA.client.secret, 'the password': idpA.user.password },
    ports: identityFetch(trustingA),
    provider: idpA,
  }),
  'an application': () => ({
    config: applicationSecret(idpB),
    secrets: { 'the client secret': idpB.client.secret },
    ports: identityFetch(trustingB),
    provider: idpB,
  }),
};

/** Failures of an identity provider that echo the request. */
function faultsEchoing(echo: string): Fault[] {
  const body = { error: 'invalid_client', error_description: echo, access_token: echo };
  return [
    { status: 400, body },
    { status: 401, body: { ...body, error: 'invalid_grant' } },
    { status: 500, body: `<pre>${echo}</pre>`, headers: { 'x-debug': encodeURIComponent(echo) } },
    { status: 200, body },
    { transform: (answer) => JSON.stringify({ ...answer, token_type: echo }).slice(0, -1) },
    { hang: true },
    { destroy: true },
  ];
}

async function shown(scan: SecretScan, where: string, work: () => unknown): Promise<void> {
  try {
    scan.object(where, await work());
  } catch (error) {
    scan.object(`the error of ${where}`, error);
  }
}

describe.each(Object.keys(WAYS))(
  'no secret of a site with %s appears in logs, spans, stores, responses or objects',
  (name) => {
    it('for any response of platform and provider', { timeout: 60_000 }, async () => {
      const scan = new SecretScan();
      const { config, secrets, ports = {}, provider } = (WAYS[name] as () => Way)();
      for (const [what, secret] of Object.entries(secrets)) scan.learn(what, secret);
      const userToken = await idpA.issueUserToken('ada', { audience: 'platform' });

      // First without a token because the provider fails, then with one.
      for (const fault of provider === undefined ? [] : faultsEchoing(Object.values(secrets).join(' '))) {
        if (provider !== undefined) provider.faults.token = fault;
        const site = await startSecretiveSite({ config, ports, scan, spans, userToken });
        await site.visitAll(ANSWERS['an answer to everything'] as Answer);
        await shown(scan, 'authHeaders', () => site.toolkit.authHeaders().then(() => 'headers'));
        scan.object('the health', await site.toolkit.health());
        site.reveal();
      }
      if (provider !== undefined) delete provider.faults.token;
      const site = await startSecretiveSite({ config, ports, scan, spans, userToken });
      for (const answer of Object.values(ANSWERS)) await site.visitAll(answer);

      const { toolkit } = site;
      scan.object('the toolkit', toolkit);
      scan.object('the health', await toolkit.health());
      scan.object('a chat handler', chatRoute(toolkit, { apiKey: 'another' }));
      scan.object('the project', await toolkit.projectId());
      scan.object('the resolved configuration', resolveConfig(config));
      site.reveal();

      expect(scan.findings()).toEqual([]);
      expect(site.upstream.requests.length).toBeGreaterThan(50);
      expect(scan.size).toBeGreaterThan(100_000);
    });
  },
);

describe('no secret appears in the prints and errors of', () => {
  it("sessions and the site's own headers", async () => {
    const scan = new SecretScan();
    const token = randomUUID();
    scan.learn("a user's token", token);
    const source = fromFunction(() => token, { sessionCookies: ['sid'] });
    scan.object('a source', source);
    const toolkit = createToolkit({ a2aUrl: 'https://agent.example/a2a', serviceApiKey: token });
    scan.object('a maker of headers', createGetHeadersForSession({ authClient: source, toolkit } as never));
    const failing = fromFunction(() => Promise.reject(new Error(`the session of ${token} is broken`)));
    await shown(scan, 'a session that fails', () => toolkit.sessionHeaders({ authClient: failing }, { headers: {} }));
    expect(scan.findings()).toEqual([]);
  });

  it('the doctor shows no secret of a configuration', { timeout: 30_000 }, async () => {
    const scan = new SecretScan();
    const { client, user, domain, audience } = idpA;
    const platform = await RecordingUpstream.start();
    onTestFinished(() => platform.close());
    platform.willAnswer(ANSWERS['403 with an echo'] as Answer);
    const env = {
      A2A_URL: `${platform.origin}/a2a`,
      SERVICE_API_URL: `${platform.origin}/api`,
      SERVICE_API_KEY: randomUUID(),
      SERVICE_AUTH_STRATEGY: 'resource_owner_password',
      AUTH_PROVIDER: 'idp_a',
      IDP_A_DOMAIN: domain,
      IDP_A_CLIENT_ID: client.id,
      IDP_A_CLIENT_SECRET: client.secret,
      IDP_A_AUDIENCE: audience,
      IDP_A_SERVICE_USER_USERNAME: user.username,
      IDP_A_SERVICE_USER_PASSWORD: user.password,
    };
    for (const [name, value] of Object.entries(env)) if (/KEY$|SECRET|PASSWORD/.test(name)) scan.learn(name, value);
    const examined = async (variables: Record<string, string>): Promise<string> => {
      const { printed, complained } = await runCommandLine(['doctor'], { env: variables }, identityFetch(trustingA));
      scan.text('the terminal', printed + complained);
      return printed;
    };

    expect(await examined(env)).toMatch(/✓ token +obtained/);
    for (const fault of faultsEchoing(`${client.secret} ${user.password}`)) {
      idpA.faults.token = fault;
      expect(await examined(env)).toMatch(/✗ token/);
    }
    scan.learn('the private key', serviceKey);
    for (const key of [serviceKey, serviceKey.replace('MII', 'xxx'), serviceKey.slice(0, 400)]) {
      const { A2A_URL, SERVICE_API_URL } = env;
      await examined({ A2A_URL, SERVICE_API_URL, SERVICE_ACCOUNT_ID: 'sa', SERVICE_ACCOUNT_PRIVATE_KEY: key });
    }
    learnTokens(scan, platform);
    expect(scan.findings()).toEqual([]);
    expect(scan.size).toBeGreaterThan(1_000);
  });
});
