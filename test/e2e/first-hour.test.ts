import { join } from 'node:path';
import { configureServer, type ServerConfig } from 'agent-bff';
import { FakeClock } from 'agent-bff/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  doctorsComplaints,
  FirstHour,
  firstVisit,
  operatorLines,
  terminalLines,
  saying,
  selfSigned,
  type Setup,
} from '../support/first-hour.js';
import { runIdpB } from '../support/identity-provider/index.js';
import { refusedOrigin } from '../support/recording-upstream.js';
import { newServiceAccountKey } from '../support/service-account.js';
import { applicationSecret, identityFetch } from './credentials/credential-site.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const folder = temporaryFolder('first-hour');
const { idp, cloud } = await runIdpB();
let world: FirstHour;
let other: Awaited<ReturnType<typeof newServiceAccountKey>>;

beforeAll(async () => {
  world = await FirstHour.start();
  other = await newServiceAccountKey();
});
afterAll(async () => {
  await world.close();
});

/** A platform message with a host name, and an API key. Visitors must see neither. */
const WORDS = 'no role chat.user in tenant-7 at db-main.internal';
const API_KEY = 'hunter2-hunter2';
const PAGE = `<html><title>Shop</title><h1>${WORDS}</h1></html>`;
const LOGIN = `<html><title>Sign in to ${WORDS}</title><form><input type="password"></form></html>`;
const REST = { path: '/api/a2a/message:send', body: '{"message":{}}' };
const GET_CONFIG = { method: 'GET', path: '/api/a2a/config', body: null };

/** One mistake, and its effect in the browser, the log and the doctor. */
interface Mistake {
  readonly setup: () => Setup | Promise<Setup>;
  /** The response. The code is empty if the mistake does not affect the visitor. */
  readonly browser: readonly [status: number, code: string, message: RegExp];
  /** A line of the log; absent if nothing is logged. */
  readonly operator?: RegExp;
  /** A line of the doctor; absent if it cannot detect the mistake, or if another test has the line. */
  readonly doctor?: RegExp;
}

const agent = async (a2aUrl: Promise<string> | string): Promise<Setup> => ({
  config: world.config({ a2aUrl: await a2aUrl }),
});
const right = (changes: Omit<Partial<Setup>, 'config'> = {}): Setup => ({ config: world.config(), ...changes });
const account = (block: ServerConfig['serviceAccount']): Setup => ({ config: world.config({}, block) });
const keyed = async (a2aUrl: Promise<string>, ask = {}): Promise<Setup> => ({
  config: { a2aUrl: await a2aUrl, serviceApiKey: API_KEY },
  ask,
});
const port = (url: string): string => new URL(url).host;

const MISTAKES: Readonly<Record<string, Mistake>> = {
  'the path of the agent is wrong': {
    setup: () => agent(`${world.platform.url}/a3a`),
    browser: [404, 'upstream_error', /^The agent was not found at its address\. Check "a2aUrl"/],
    operator: /^upstream_error a2aUrl: status 404 from the agent, text\/html: .*Cannot POST \/a3a/,
  },
  'an API gateway knows no such route': {
    setup: () => agent(saying(404, 'application/json', `{"message":"Not Found: ${WORDS}"}`)),
    browser: [404, 'upstream_error', /^The agent was not found at its address\. Check "a2aUrl"/],
    operator: /^upstream_error a2aUrl: status 404 from the agent, application\/json: \{"message"/,
  },
  'an API gateway rejects an unknown route': {
    setup: () => agent(saying(403, 'application/json', '{"message":"Missing Authentication Token"}')),
    browser: [
      403,
      'service_token_rejected',
      /"serviceAccount" configuration block.* unknown paths too: then check "a2aUrl"/,
    ],
    operator: /^service_token_rejected .*: status 403 from the agent, application\/json: /,
  },
  'the account lacks the role to read the card': {
    setup: async () => keyed(saying(403, 'application/json', `{"message":"${WORDS}"}`), GET_CONFIG),
    browser: [
      403,
      'service_token_rejected',
      /does not allow the service credential.* "serviceApiKey" in configureServer/,
    ],
    operator: /^service_token_rejected .*: \/\.well-known\/agent-card\.json: status 403, application\/json: /,
  },
  'the address is a web page': {
    setup: () => agent(saying(200, 'text/html; charset=utf-8', PAGE)),
    browser: [502, 'upstream_invalid_response', /^The address of the agent leads to a web page\. Check "a2aUrl"/],
    operator: /^upstream_invalid_response a2aUrl: status 200 from the agent, text\/html: <html>/,
  },
  'the address responds with OK only': {
    setup: () => agent(saying(200, 'text/plain', 'OK')),
    browser: [502, 'upstream_invalid_response', /is not JSON or an event stream.* Check "a2aUrl"/],
    operator: /^upstream_invalid_response a2aUrl: status 200 from the agent, text\/plain: OK$/,
  },
  'the agent is behind a sign-in page': {
    setup: () => agent(saying(200, 'text/html', LOGIN)),
    browser: [
      502,
      'upstream_invalid_response',
      /^The address of the agent leads to a sign-in page\. Check "a2aUrl".* from the sign-in/,
    ],
    operator: /^upstream_invalid_response a2aUrl: status 200 from the agent, text\/html: .*Sign in/,
  },
  'a sign-in page rejects the credential': {
    setup: () => agent(saying(401, 'text/html', LOGIN)),
    browser: [
      401,
      'service_token_rejected',
      /^The address of the agent leads to a sign-in page.*"a2aUrl".*"serviceAccount" configuration block/,
    ],
    operator: /^service_token_rejected .*: status 401 from the agent, text\/html: /,
    doctor: /^agent card: The address of the agent leads to a sign-in page\..* \| fix: serviceAccount: /,
  },
  'the agent redirects to a sign-in page': {
    setup: () => agent(saying(302, 'text/html', '', { location: 'https://idp.internal/login?next=hunter2' })),
    browser: [502, 'upstream_redirect', /^The agent redirects to a sign-in page.* Check "a2aUrl"/],
    operator: /^upstream_redirect a2aUrl: status 302 from the agent, to https:\/\/idp\.internal\/login$/,
  },
  'the agent has moved to https, or to a path with a slash': {
    setup: () => agent(saying(308, 'text/plain', '', { location: 'https://agent.internal/a2a/' })),
    browser: [502, 'upstream_redirect', /Set "a2aUrl" in configureServer to the final address .* trailing slash/],
    operator: /^upstream_redirect a2aUrl: status 308 from the agent, to https:\/\/agent\.internal\/a2a\/$/,
  },
  'the address rejects POST': {
    setup: () => agent(saying(405, 'text/plain', 'Method Not Allowed', { allow: 'GET' })),
    browser: [
      405,
      'upstream_error',
      /does not accept this method at this address\. Check "a2aUrl".* JSON-RPC endpoint/,
    ],
    operator: /^upstream_error a2aUrl: status 405 from the agent/,
  },
  'the host does not exist': {
    setup: () => agent('http://agent.invalid/a2a'),
    browser: [502, 'upstream_unreachable', /^The agent cannot be reached\. .* "a2aUrl" in configureServer/],
    operator:
      /^upstream_unreachable a2aUrl: (?:ENOTFOUND.*no host has this name|EAI_AGAIN.*the name server does not respond)/,
  },
  'nothing listens on the port': {
    setup: () => agent(refusedOrigin()),
    browser: [502, 'upstream_unreachable', /"a2aUrl" in configureServer/],
    operator: /^upstream_unreachable a2aUrl: ECONNREFUSED.*no server listens on this port/,
  },
  'the scheme is https but the server speaks http': {
    setup: () => agent(world.platform.a2aUrl.replace('http:', 'https:')),
    browser: [502, 'upstream_unreachable', /"a2aUrl" in configureServer/],
    operator: /^upstream_unreachable a2aUrl: .*the server does not use TLS/,
  },
  'the scheme is http but the server speaks https': {
    setup: async () => agent((await selfSigned()).replace('https:', 'http:')),
    browser: [502, 'upstream_unreachable', /"a2aUrl" in configureServer: a server that expects https/],
    operator: /^upstream_unreachable a2aUrl: .*expects https/,
  },
  'the scheme is http but the proxy expects https': {
    setup: () =>
      agent(saying(400, 'text/html', '<h1>400 Bad Request</h1>The plain HTTP request was sent to HTTPS port')),
    browser: [400, 'upstream_error', /^The address of the agent requires https\. Use https in "a2aUrl"/],
    operator: /^upstream_error a2aUrl: status 400 from the agent, text\/html: /,
  },
  'the certificate of the platform is not trusted': {
    setup: () => agent(selfSigned()),
    browser: [502, 'upstream_unreachable', /"a2aUrl" in configureServer/],
    operator: /^upstream_unreachable a2aUrl: .*not signed by an authority this process trusts; NODE_EXTRA_CA_CERTS/,
  },
  'the agent fails': {
    setup: () => agent(saying(503, 'text/html', `<h1>${WORDS}</h1>`, { 'retry-after': '7' })),
    browser: [503, 'upstream_error', /^The agent reported an internal error\./],
    operator: /^upstream_error .*: status 503 from the agent, text\/html: <h1>/,
  },
  'the key is no longer registered at the platform': {
    setup: () => account({ privateKeyPem: other.privateKey }),
    browser: [401, 'service_token_rejected', /Check the "serviceAccount" configuration block/],
    operator: /^service_token_rejected .*privateKeyPem.*: status 401 from the agent, .*SIGNATURE/,
  },
  'the audience is wrong': {
    setup: () => account({ audience: 'https://elsewhere.example' }),
    browser: [401, 'service_token_rejected', /its audience/],
    operator: /^service_token_rejected .*audience.*: status 401 from the agent/,
  },
  'the key belongs to another account': {
    setup: () => account({ serviceAccountId: 'site-2' }),
    browser: [401, 'service_token_rejected', /Check the "serviceAccount" configuration block/],
    operator: /^service_token_rejected serviceAccountId.*: status 401 from the agent, .*another service account/,
  },
  'the clock is ten minutes late': {
    setup: () => right({ ports: { clock: new FakeClock(Date.now() - 600_000) } }),
    browser: [200, '', /^$/],
    operator: /^clock_skew: /,
  },
  'the key is garbled': {
    setup: () => account({ privateKeyPem: world.privateKey.slice(0, 900) }),
    browser: [401, 'service_auth_failed', /"privateKeyPem" in the "serviceAccount" configuration block/],
    operator: /^service_auth_failed privateKeyPem: /,
    doctor: /^private key: .* \| fix: serviceAccount: privateKeyPem$/,
  },
  'the key file is missing': {
    setup: () => account({ privateKeyPem: '', privateKeyPath: join(folder, 'key.pem') }),
    browser: [401, 'service_auth_failed', /^.*"privateKeyPath" in the "serviceAccount" configuration block/],
    operator: /^service_auth_failed privateKeyPath: /,
  },
  'no credential is configured': {
    setup: () => ({ config: world.config({ serviceAccount: {} }) }),
    browser: [401, 'service_auth_failed', /Set "serviceAuthStrategy" or "authProvider" in configureServer/],
    operator: /^service_auth_failed serviceAuthStrategy,authProvider,serviceApiKey/,
    doctor:
      /^strategy: no service credential: .* \| fix: configureServer: serviceAuthStrategy, authProvider, serviceApiKey$/,
  },
  'the address of the agent is not set': {
    setup: () => ({ config: world.config({ a2aUrl: '' }) }),
    browser: [401, 'service_auth_failed', /Set "a2aUrl" in configureServer/],
    operator: /^service_auth_failed a2aUrl: /,
  },
  'the API key is wrong': {
    setup: () => keyed(saying(401, 'application/json', `{"message":"${API_KEY} is unknown, ${WORDS}"}`)),
    browser: [401, 'service_token_rejected', /Check "serviceApiKey" in configureServer/],
    operator: /^service_token_rejected .*: status 401 from the agent, application\/json: \{"message":"\[redacted\] is/,
  },
  'the tenant is wrong': {
    setup: () => {
      const { idpBService, ...rest } = applicationSecret(idp);
      const config = world.config({ ...rest, idpBService: { ...idpBService, tenantId: 'contoso.example' } });
      return { config, ports: identityFetch(cloud) };
    },
    browser: [401, 'service_auth_failed', /"idpBService" configuration block: "tenantId"/],
    operator: /^service_auth_failed tenantId: /,
    doctor: / \| fix: idpBService: tenantId$/,
  },
  'the identity provider cannot be reached': {
    setup: async () => ({
      config: world.config({
        authProvider: 'idp_a',
        idpA: { domain: port(await refusedOrigin()), clientId: 'site', clientSecret: API_KEY },
        idpAServiceUser: { username: 'svc', password: API_KEY },
      }),
    }),
    browser: [401, 'identity_provider_unavailable', /^The identity provider cannot be reached.*"idpA"/],
    operator: /^identity_provider_unavailable .*: .*ECONNREFUSED/,
    doctor: /^provider: .*ECONNREFUSED, no server listens on this port \| fix: idpA: domain$/,
  },
  'the path of the project is wrong': {
    setup: () => ({ config: world.config({ upstream: { paths: { project: '/nowhere' } } }), ask: GET_CONFIG }),
    browser: [200, '', /^$/],
    operator:
      /^project_unavailable: The platform was not found at its address\. Check "serviceApiUrl" and "upstream\.paths\.project".*status 404/,
  },
  'the account may not see the project': {
    setup: async () => ({
      config: world.config({ serviceApiUrl: await saying(403, 'application/json', `{"message":"${WORDS}"}`) }),
      ask: GET_CONFIG,
    }),
    browser: [200, '', /^$/],
    operator: /^project_unavailable: The platform does not allow the service credential .* role\..*status 403/,
    doctor: /^project: The platform does not allow the service credential .* \| fix: serviceAccount: /,
  },
  'the router is mounted above the path that the page calls': {
    setup: () => right({ mount: (app, router) => void app.use('/api', router) }),
    browser: [404, 'not_found', /one where the routes are mounted/],
    operator: /^not_found : /,
  },
  'the agent does not support the requested binding': {
    setup: () => ({ config: world.config({ bindings: ['HTTP+JSON'] }), ask: REST }),
    browser: [502, 'agent_binding_unsupported', /"a2aUrl"/],
    operator: /^agent_binding_unsupported a2aUrl: /,
  },
};

describe('in the first hour', () => {
  it('a site without a mistake works, with nothing in the log and no doctor finding', async () => {
    const { told, events } = await firstVisit(right());
    expect(told).toMatchObject({ status: 200, code: '', message: '' });
    expect(operatorLines(events)).toEqual([]);
    expect(await doctorsComplaints(right())).toEqual([]);
  });

  describe.each(Object.entries(MISTAKES))('%s:', (_what, { setup, browser, operator, doctor }) => {
    it('the response has the fix and no secret, and the log has the reason', async () => {
      const made = await setup();
      const { told, events } = await firstVisit(made);
      const [status, code, message] = browser;
      expect([told.status, told.code]).toEqual([status, code]);
      expect(told.message).toMatch(message);
      for (const secret of secretsOf(made)) expect(told.bytes).not.toContain(secret);
      const lines = operatorLines(events);
      if (operator === undefined) expect(lines).toEqual([]);
      else expect(lines).toContainEqual(expect.stringMatching(operator));
      const shown = terminalLines(events);
      if (operator !== undefined) expect(shown).not.toEqual([]);
      for (const line of [...lines, ...shown]) expect(line).not.toMatch(/eyJ|hunter2|BEGIN/);
    });

    if (doctor === undefined) return;
    it('the doctor reports it too', async () => {
      const made = await setup();
      const complaints = await doctorsComplaints(made);
      expect(complaints).toContainEqual(expect.stringMatching(doctor));
      for (const line of complaints) expect(line).not.toMatch(/eyJ|hunter2|BEGIN/);
    });
  });

  it.each<[string, ServerConfig, RegExp]>([
    ['a misspelt strategy', { serviceAuthStrategy: 'service-account' as never }, /"serviceAuthStrategy"/],
    ['an address without a scheme', { a2aUrl: 'agent.example/a2a' }, /Set "a2aUrl" to an absolute http or https/],
    ['a misspelt field', { a2aURL: 'https://agent.example' } as never, /"a2aURL".*"a2aUrl"/],
  ])('%s fails at startup with an error that names the field', (_what, config, message) => {
    expect(() => configureServer(config)).toThrow(message);
  });
});

/** Texts that must never reach a visitor. */
function secretsOf({ config }: Setup): string[] {
  const hosts = [world.platform.url, config.a2aUrl ?? '', config.serviceApiUrl ?? '']
    .filter((url) => url !== '')
    .map(port);
  const key = world.privateKey.split('\n').filter((line) => line.length > 40);
  return [
    ...hosts,
    ...key,
    'chat.user',
    'tenant-7',
    'db-main',
    API_KEY,
    'eyJ',
    '.internal',
    'agent.invalid',
    'ECONN',
    folder,
  ];
}
