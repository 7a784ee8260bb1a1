import type { ServerConfig, SessionToken } from 'agent-bff';
import { afterAll, describe, expect, it } from 'vitest';
import { GENERATIONS, type Talk } from '../support/a2a-generations.js';
import {
  makeClientCertificate,
  removeClientCertificates,
  runIdpA,
  runIdpB,
  type ClientCertificate,
  type IdpB,
} from '../support/identity-provider/index.js';
import { servedCard } from '../support/served-card.js';
import { newServiceAccountKey } from '../support/service-account.js';
import {
  applicationSecret,
  identityFetch,
  passwordGrant,
  startSite,
  type CredentialSite,
  type CredentialSiteOptions,
} from './credentials/credential-site.js';

const stranger = makeClientCertificate();
const { idp: idpA, trusting } = await runIdpA();
const { idp: idpB, cloud } = await runIdpB({ certificates: [makeClientCertificate().certificatePem] });
const { privateKey: key } = await newServiceAccountKey();
afterAll(removeClientCertificates);

/** A site that cannot answer, and what its visitors are told. */
interface Refusal {
  readonly config: () => ServerConfig;
  readonly options?: () => CredentialSiteOptions;
  /** Whether the agent is what refuses. */
  readonly byAgent?: boolean;
  /** The first sentence is what happened, the second what to do. */
  readonly message: string;
}

const account = (privateKeyPem: string): ServerConfig => ({
  serviceAuthStrategy: 'service_account',
  serviceAccount: { serviceAccountId: 'site-1', keyId: 'key-1', privateKeyPem },
});
const machine = (clientSecret: string): ServerConfig => ({
  serviceAuthStrategy: 'client_credentials',
  authProvider: 'idp_a',
  idpA: { domain: idpA.domain, clientId: idpA.machineClient.id, clientSecret, audience: idpA.audience },
});
const application = (block: ServerConfig['idpBService']): ServerConfig => {
  const right = applicationSecret(idpB);
  return { ...right, idpBService: { ...right.idpBService, ...block } };
};
const session = (token: () => SessionToken | Promise<SessionToken>): CredentialSiteOptions => ({
  ports: identityFetch(cloud),
  routes: [{ getSessionToken: { getToken: () => Promise.resolve(token()) } }],
});
const signedIn = async (options: Parameters<IdpB['issueUserToken']>[1] = {}): Promise<SessionToken> => ({
  kind: 'token',
  accessToken: await idpB.issueUserToken('ann', options),
  subject: 'ann',
});

const REFUSALS: Readonly<Record<string, Refusal>> = {
  'the key of the service account is none': {
    config: () => account(key.slice(0, 900)),
    message: '"privateKeyPem" in the "serviceAccount" configuration block: it holds a damaged or incomplete key.',
  },
  'the agent does not know the key of the service account': {
    config: () => account(key),
    byAgent: true,
    message: 'Check the "serviceAccount" configuration block: the platform must know this client or key',
  },
  'the agent does not take the API key': {
    config: () => ({ serviceApiKey: 'an-old-key' }),
    byAgent: true,
    message: 'Check "serviceApiKey" in configureServer',
  },
  'the password of the service user is wrong at idp_a': {
    config: () => ({ ...passwordGrant(idpA), idpAServiceUser: { ...idpA.user, password: 'mistyped' } }),
    options: () => ({ ports: identityFetch(trusting) }),
    message: 'Check the "idpAServiceUser" configuration block: "username", "password".',
  },
  'the secret of the client is wrong at idp_a': {
    config: () => machine('of-another-client'),
    options: () => ({ ports: identityFetch(trusting) }),
    message: 'Check the "idpA" configuration block: "clientId", "clientSecret".',
  },
  'the secret of the application is wrong at idp_b': {
    config: () => application({ clientSecret: 'of-another-application' }),
    options: () => ({ ports: identityFetch(cloud) }),
    message: 'Check the "idpBService" configuration block: "clientSecret".',
  },
  'the certificate of the application is not registered at idp_b': {
    config: () => application({ clientSecret: '', ...paths(stranger) }),
    options: () => ({ ports: identityFetch(cloud) }),
    message: 'Check the "idpBService" configuration block: "certificatePath", "privateKeyPath".',
  },
  'nothing is configured': {
    config: () => ({}),
    message: '"serviceAuthStrategy"',
  },
  'nobody is signed in': {
    config: () => ({}),
    options: () => session(() => ({ kind: 'no-session' })),
    message: 'Nobody is signed in. Sign in and try again.',
  },
  'the session has expired': {
    config: () => ({}),
    options: () => session(() => ({ kind: 'expired' })),
    message: 'The session has expired. Sign in again.',
  },
  'the application may not exchange the token of the user': {
    config: () => ({ ...application({ clientSecret: 'of-another-application' }), onBehalfOf: {} }),
    options: () => session(() => signedIn()),
    message: 'Check the "idpBService" configuration block: "clientSecret".',
  },
  'the token of the user cannot be exchanged': {
    config: () => ({ ...application({}), onBehalfOf: {} }),
    options: () => session(() => signedIn({ audience: 'api://else' })),
    message: 'The session has expired. Sign in again.',
  },
};

function paths({ certificatePath, privateKeyPath }: ClientCertificate): ServerConfig['idpBService'] {
  return { certificatePath, privateKeyPath };
}

async function open({ config, options, byAgent = false }: Refusal): Promise<CredentialSite> {
  const site = await startSite(config(), { ...options?.(), before: [servedCard()] });
  if (byAgent) site.agent.willAnswer((exchange) => exchange.json(401, {}));
  return site;
}

/** What a client tells its user when it is told no: by an error, or, in the class of v0.2, by the answer it returns. */
async function toldBy(call: () => Promise<unknown>): Promise<string> {
  try {
    const answer = (await call()) as { error?: { message: string } } | undefined;
    return answer?.error?.message ?? 'that all is well';
  } catch (error) {
    return String(error);
  }
}

const WAYS: readonly (readonly [name: string, go: (talk: Talk) => Promise<unknown>])[] = [
  ['sends', (talk) => talk.send({ text: 'Hello' })],
  [
    'streams',
    async (talk) => {
      for await (const event of talk.stream({ text: 'Hello' })) void event;
    },
  ],
  ['looks at a task', (talk) => talk.get('task-1')],
];

/** Of answers that are no streams 0.2.5 reads any JSON-RPC error with an error status twice, whoever sent it, and fails at that. */
const isReadTwice = (name: string, way: string): boolean => name === '@a2a-js/sdk 0.2.5' && way !== 'streams';

describe.each(Object.entries(REFUSALS))('when %s', (_what, refusal) => {
  it('clients of every generation say what to check, whatever they do', async () => {
    const site = await open(refusal);
    for (const [name, connect] of GENERATIONS) {
      const talk = await connect(site.url);
      for (const [way, go] of WAYS) {
        const shown = isReadTwice(name, way) ? 'Body is unusable' : refusal.message;
        expect(await toldBy(() => go(talk)), `${name} ${way}`).toContain(shown);
      }
    }
    if (refusal.byAgent !== true) expect(site.agent.requests).toEqual([]);
  });

  it('the configuration of the chat says the same, as a problem', async () => {
    const site = await open(refusal);
    const response = await fetch(`${site.url}/api/a2a/config`);
    expect([response.status, response.headers.get('content-type')]).toEqual([401, 'application/problem+json']);
    expect(response.headers.get('cache-control')).toBe('no-store');
    const { detail, hint } = (await response.json()) as { detail: string; hint: string };
    expect(`${detail} ${hint}`).toContain(refusal.message);
  });
});
