import { afterAll, expect, it } from 'vitest';
import { IDP_A } from '../../src/adapters/idp-a/descriptor.js';
import { IDP_B, tenantAddress } from '../../src/adapters/idp-b/descriptor.js';
import { generateKeyPair } from '../../src/adapters/keys/pem.js';
import { SERVICE_ACCOUNT } from '../../src/adapters/service-account/descriptor.js';
import { systemClock } from '../../src/adapters/system/system.js';
import { resolveConfig } from '../../src/composition/config/resolve-config.js';
import type { ServerConfig } from '../../src/composition/config/server-config.js';
import { makeClientCertificate, removeClientCertificates } from '../support/identity-provider/index.js';

const OPENID = '.well-known/openid-configuration';
const CLOUD = 'https://login.microsoftonline.com';

type Place = readonly [block: string, field: string, url?: string | undefined, fault?: string];

const exchange = { onBehalfOf: { tenantId: 't2', clientId: 'c2', clientSecret: 's2' } };

it.each<[string, typeof IDP_A | typeof IDP_B, ServerConfig, Place, Place]>([
  [
    'the domain of idpA',
    IDP_A,
    { idpA: { domain: ' acme.eu.auth0.com/ ' } },
    ['idpA', 'domain', `https://acme.eu.auth0.com/${OPENID}`],
    ['idpA', 'domain', `https://acme.eu.auth0.com/${OPENID}`],
  ],
  ['no domain of idpA', IDP_A, { idpA: { domain: ' ' } }, ['idpA', 'domain'], ['idpA', 'domain']],
  [
    'a tenant of idpB',
    IDP_B,
    { idpBService: { tenantId: ' t1 ' }, ...exchange },
    ['idpBService', 'tenantId', `${CLOUD}/t1/v2.0/${OPENID}`],
    ['onBehalfOf', 'tenantId', `${CLOUD}/t2/v2.0/${OPENID}`],
  ],
  [
    'an authority of idpB',
    IDP_B,
    { idpBService: { tenantId: 't1', authority: 'https://login.example/x/t1/v2.0' }, ...exchange },
    ['idpBService', 'authority', `https://login.example/x/t1/v2.0/${OPENID}`],
    ['idpBService', 'authority', `https://login.example/x/t1/t2/v2.0/${OPENID}`],
  ],
  [
    'any tenant of idpB',
    IDP_B,
    { idpBService: { tenantId: 'Common' }, onBehalfOf: { tenantId: 'a b' } },
    ['idpBService', 'tenantId', undefined, 'tenantId must name one tenant, neither "common" nor "organizations"'],
    ['onBehalfOf', 'tenantId', undefined, 'tenantId must be the identifier or the domain of a tenant'],
  ],
  ['no settings of idpB', IDP_B, {}, ['idpBService', 'tenantId'], ['idpBService', 'tenantId']],
  [
    'another application without a tenant',
    IDP_B,
    { onBehalfOf: { clientId: 'c2' } },
    ['idpBService', 'tenantId'],
    ['onBehalfOf', 'tenantId'],
  ],
  [
    'no tenant of idpB',
    IDP_B,
    { idpBService: { tenantId: ' ' } },
    ['idpBService', 'tenantId'],
    ['idpBService', 'tenantId'],
  ],
])('the address of %s is that of its field, or names the fault', (_what, provider, config, own, exchanges) => {
  const blocks = resolveConfig(config);
  const found = [provider.examine(blocks, systemClock), provider.examineExchange?.(blocks, systemClock)];
  expect(found.map((facts) => facts?.address)).toEqual(
    [own, exchanges].map(([block, field, url, fault]) => ({
      setting: expect.objectContaining(
        field === 'authority' && url !== undefined ? { field: 'tenantId' } : { block, field },
      ) as unknown,
      ...(url !== undefined && field !== 'tenantId' && { host: expect.objectContaining({ field }) as unknown }),
      ...(url !== undefined && { url }),
      ...(fault !== undefined && { fault }),
    })),
  );
});

it.each<[string, typeof IDP_A | typeof IDP_B | typeof SERVICE_ACCOUNT, ServerConfig, string[], string[]]>([
  ['idpA', IDP_A, { idpA: { audience: 'a', scope: 'openid chat' } }, ['a'], ['chat']],
  ['idpA', IDP_A, { idpA: { audience: 'a' } }, ['a'], []],
  ['idpBService', IDP_B, { idpBService: { scope: ' api://app/.default x' } }, ['api://app', 'app'], []],
  ['serviceAccount', SERVICE_ACCOUNT, { serviceAccount: { audience: 'a' } }, ['a'], []],
  ['serviceAccount', SERVICE_ACCOUNT, { serviceAccount: { audience: ['a', 'b'] } }, ['a', 'b'], []],
  ['serviceAccount', SERVICE_ACCOUNT, { serviceAccount: { audience: false } }, [], []],
])(
  'the token of %s is expected to have the configured audience and scopes',
  (block, provider, config, audience, scopes) => {
    const { expected } = provider.examine(resolveConfig(config), systemClock);
    expect(expected).toMatchObject({ audience, scopes, setting: { block } });
  },
);

const privateKeyPem = (await generateKeyPair()).privateKeyPem.reveal();
const { certificatePath, privateKeyPath } = makeClientCertificate();
const PAIR = { certificatePath, privateKeyPath };
afterAll(removeClientCertificates);
const KEY = { privateKeyPath: '/missing/key.pem' };
const FILES = { ...KEY, certificatePath: '/missing/certificate.pem' };
const NO_CERTIFICATE = { check: 'certificate', block: 'idpBService', fields: ['certificatePath'], isUsable: false };

it.each<[string, typeof IDP_A | typeof IDP_B | typeof SERVICE_ACCOUNT, ServerConfig, object[], object[]?]>([
  ['no key of idpA', IDP_A, { idpA: { domain: 'acme.eu.auth0.com' } }, [], []],
  ['no certificate', IDP_B, {}, [], []],
  ['a key beside a secret', IDP_B, { idpBService: { ...KEY, clientSecret: 's' } }, [], []],
  ['a key without its certificate', IDP_B, { idpBService: KEY }, [NO_CERTIFICATE], [NO_CERTIFICATE]],
  [
    'a certificate before a secret',
    IDP_B,
    { idpBService: { ...PAIR, clientSecret: 's' }, onBehalfOf: PAIR },
    [
      {
        ...NO_CERTIFICATE,
        fields: ['certificatePath', 'privateKeyPath'],
        isUsable: true,
        detail: expect.stringMatching(
          /^matches its key, SHA-256 [\da-f]{64}; takes precedence over the client secret$/,
        ),
        validity: { notBefore: expect.any(Number), notAfter: expect.any(Number) },
      },
    ],
    [{ block: 'onBehalfOf', isUsable: true, detail: expect.stringMatching(/^matches its key, SHA-256 [\da-f]{64}$/) }],
  ],
  [
    'the certificate of an application that also exchanges tokens',
    IDP_B,
    { idpBService: FILES, onBehalfOf: { clientId: 'c' } },
    [NO_CERTIFICATE],
    [NO_CERTIFICATE],
  ],
  [
    'a certificate that cannot be read',
    IDP_B,
    { idpBService: { ...FILES, clientSecret: 's' }, onBehalfOf: { ...FILES, clientId: 'c' } },
    [NO_CERTIFICATE],
    [{ ...NO_CERTIFICATE, block: 'onBehalfOf' }],
  ],
  [
    'no key',
    SERVICE_ACCOUNT,
    {},
    [
      {
        check: 'private key',
        block: 'serviceAccount',
        fields: ['privateKeyPem', 'privateKeyPath'],
        isUsable: false,
        detail: 'none is configured',
        advice: 'Set "privateKeyPem" or "privateKeyPath" in the "serviceAccount" configuration block.',
      },
    ],
  ],
  [
    'a key that cannot be read',
    SERVICE_ACCOUNT,
    { serviceAccount: KEY },
    [{ check: 'private key', block: 'serviceAccount', fields: ['privateKeyPath'], isUsable: false }],
  ],
  [
    'a key',
    SERVICE_ACCOUNT,
    { serviceAccount: { privateKeyPem } },
    [{ check: 'private key', isUsable: true, detail: expect.stringMatching(/^RSA, public half SHA-256 [\w-]{43}$/) }],
  ],
  [
    'a key beside a file',
    SERVICE_ACCOUNT,
    { serviceAccount: { ...KEY, privateKeyPem } },
    [
      {
        isUsable: true,
        detail: 'the text is used and the file is ignored',
        advice: 'Leave one of "privateKeyPem" and "privateKeyPath" out of the "serviceAccount" configuration block.',
      },
    ],
  ],
])('%s is reported with the fields to check', (_what, provider, config, keys, exchanged = []) => {
  const blocks = resolveConfig(config);
  const found = provider.examine(blocks, systemClock);
  expect(found.keys).toMatchObject(keys);
  for (const { detail, advice } of found.keys) expect([detail, advice]).not.toContain('');
  const { examineExchange } = provider as typeof IDP_B;
  expect(examineExchange?.(blocks, systemClock)?.keys ?? []).toMatchObject(exchanged);
});

it.each(['common', 'Organizations', 'consumers'])('"%s" is not the tenant of an application', (tenantId) => {
  expect(tenantAddress(tenantId, '')).toContain('must name one tenant');
});

it.each([
  [{ serviceAccount: { audience: true } }, /"audience".* a string, a list of strings, or false/],
  [{ serviceAccount: { audience: ['a', 7] } }, /"audience".* a string, a list of strings, or false/],
  [{ idpA: { domain: 7 } }, /"domain".* the domain of the tenant/],
  [{ idpA: { domain: 'https://me@idp.example' } }, /"domain".* the domain of the tenant/],
  [{ idpBService: { authority: 7 } }, /"authority".* an https address/],
  [{ idpBService: { authority: 'http://login.example' } }, /"authority".* an https address/],
])('the configuration %j is rejected', (config, message) => {
  expect(() => resolveConfig(config as ServerConfig)).toThrow(message);
});
