import { generateKeyPairSync } from 'node:crypto';
import { inspect } from 'node:util';
import { type ConfigurationError, configFromEnv, createToolkit, type ServerConfig } from 'agent-bff';
import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { keyText } from '../../../src/adapters/keys/private-key.js';
import { readPem } from '../../../src/adapters/keys/pem.js';
import { resolveConfig } from '../../../src/composition/config/resolve-config.js';

// Thousands of runs take their time on a busy machine.
vi.setConfig({ testTimeout: 120_000 });

/** Stands in every value, so that no message can quote one unseen. */
const SECRET = 'S3cret';

const FIELDS = [
  ...'a2aUrl serviceApiUrl serviceApiKey serviceProjectId serviceAuthStrategy authProvider publicUrl'.split(' '),
  ...'serviceAccount idpA idpAServiceUser idpBService agentCardUrl bindings upstream a2aMethods'.split(' '),
  ...'timeouts bodyLimitBytes maxInFlight keepAliveMs allowedOrigins mediaOrigins trustBrandCss allowedHosts authUnavailableStatus'.split(
    ' ',
  ),
  ...'onBehalfOf cacheStore cacheKeys chatLimit telemetry __proto__ constructor toString'.split(' '),
  '',
];
const INNER = [
  ...'serviceAccountId privateKeyPem privateKeyPath audience claims domain clientId clientSecret'.split(' '),
  ...'username password tenantId certificatePath provider scope connectMs lookupMs paths'.split(' '),
  ...'headers surface conversations apiKey projectId get set delete emit __proto__ length 0'.split(' '),
];

const text = fc.oneof(
  fc.string().map((rest) => SECRET + rest),
  fc.constantFrom(
    `https://${SECRET}.example/x`,
    `https://user:${SECRET}@p.example`,
    `http://p.example?k=${SECRET}`,
    `/${SECRET}/{path}`,
    `${SECRET}\n`,
  ),
);
const scalar = fc.oneof(
  { weight: 4, arbitrary: text },
  { weight: 1, arbitrary: fc.constantFrom(0, -1, 1.5, NaN, Infinity, 7, null, undefined, true, '', 401) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(Symbol('s'), 10n, () => SECRET, new Date(0), new Map([[SECRET, SECRET]]), /x/),
  },
);
const inner = fc.oneof(
  { weight: 3, arbitrary: scalar },
  {
    weight: 3,
    arbitrary: fc.dictionary(fc.oneof(fc.constantFrom(...INNER), fc.string({ maxLength: 5 })), scalar, { maxKeys: 4 }),
  },
  { weight: 1, arbitrary: fc.array(scalar, { maxLength: 3 }) },
  {
    weight: 1,
    arbitrary: fc.dictionary(
      fc.constantFrom(...INNER),
      fc.dictionary(fc.constantFrom(...INNER), scalar, { maxKeys: 3 }),
      { maxKeys: 2 },
    ),
  },
);
const configuration = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.dictionary(
      fc.oneof(
        { weight: 9, arbitrary: fc.constantFrom(...FIELDS) },
        { weight: 1, arbitrary: fc.string({ maxLength: 6 }) },
      ),
      inner,
      { maxKeys: 3 },
    ),
  },
  { weight: 1, arbitrary: inner },
  {
    weight: 1,
    arbitrary: fc.anything({ withBigInt: true, withDate: true, withMap: true, withNullPrototype: true, withSet: true }),
  },
);

/** Everything a reader of an error can see. */
function visible(error: ConfigurationError): string {
  return [
    error.message,
    error.detail,
    error.hint,
    error.logDetail(),
    JSON.stringify(error),
    inspect(error),
    String(error.stack),
  ].join('\n');
}

function expectNamedRefusal(error: unknown): void {
  expect(error).toMatchObject({
    name: 'ConfigurationError',
    code: 'configuration_invalid',
    block: expect.stringMatching(/./) as string,
  });
  expect(visible(error as ConfigurationError)).not.toContain(SECRET);
}

describe('whatever configuration comes,', () => {
  it('it is understood, or refused by the name of a block without a value', () => {
    const seen = { understood: 0, refused: 0 };
    fc.assert(
      fc.property(configuration, (config) => {
        try {
          resolveConfig(config as ServerConfig);
          seen.understood += 1;
        } catch (error) {
          seen.refused += 1;
          expectNamedRefusal(error);
        }
      }),
      { numRuns: 3_000 },
    );
    expect(seen.understood).toBeGreaterThan(50);
    expect(seen.refused).toBeGreaterThan(500);
  });

  it('a toolkit made of it shows none of its secrets', async () => {
    await fc.assert(
      fc.asyncProperty(configuration, async (config) => {
        let toolkit;
        try {
          toolkit = createToolkit(config as ServerConfig);
        } catch (error) {
          expectNamedRefusal(error);
          return;
        }
        expect(inspect(toolkit, { depth: 6, showHidden: true }) + JSON.stringify(toolkit)).not.toContain(SECRET);
        await toolkit.close({ graceMs: 0 });
      }),
      { numRuns: 300 },
    );
  });

  it('variables of the environment are understood, or refused without a value', () => {
    const name = fc.oneof(
      fc.constantFrom(
        'A2A_URL',
        'A2A_URI',
        'SERVICE_API_KEY',
        'SERVICE_APIKEY',
        'IDP_A_DOMAIN',
        'IDP_A_DOMAN',
        'PUBLIC_URL',
        'CACHE_URL',
      ),
      fc.constantFrom(
        'SERVICE_AUTH_STRATEGY',
        'SERVICE_ACCOUNT_PRIVATE_KEY',
        'IDP_B_CLIENT_SECRET',
        'PATH',
        '__proto__',
        'constructor',
        'toString',
      ),
      fc.string({ maxLength: 6 }).map((rest) => `SERVICE_${rest}`),
    );
    fc.assert(
      fc.property(fc.dictionary(name, text, { maxKeys: 4 }), (env) => {
        try {
          resolveConfig(configFromEnv(env));
        } catch (error) {
          expectNamedRefusal(error);
        }
      }),
      { numRuns: 2_000 },
    );
  });
});

const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const PEM = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
const BODY = PEM.replace(/-----[^-]+-----|\n/g, '');

/** Every part of the key that is long enough to be one. */
const PIECES = Array.from({ length: Math.floor(BODY.length / 4) - 3 }, (_, index) =>
  BODY.slice(index * 4, index * 4 + 12),
);

/** A key as it comes out of hands that cut, paste and escape. */
const damaged = fc
  .array(
    fc.oneof(
      fc.tuple(fc.nat(PEM.length), fc.nat(300)).map(
        ([at, length]) =>
          (pem: string) =>
            pem.slice(0, at) + pem.slice(at + length),
      ),
      fc.tuple(fc.nat(PEM.length), fc.string({ maxLength: 4 })).map(
        ([at, more]) =>
          (pem: string) =>
            pem.slice(0, at) + more + pem.slice(at),
      ),
      fc
        .nat(PEM.length)
        .map((at) => (pem: string) => pem.slice(0, at) + (pem[at] === 'A' ? 'B' : 'A') + pem.slice(at + 1)),
      fc.constantFrom(
        (pem: string) => pem.replaceAll('\n', '\\n'),
        (pem: string) => pem.replaceAll('\n', ' '),
        (pem: string) => pem.replaceAll('\n', '\r\n'),
        (pem: string) => `"${pem}"`,
        (pem: string) => Buffer.from(pem).toString('base64'),
        (pem: string) => pem.replaceAll('PRIVATE', 'RSA PRIVATE'),
        (pem: string) => pem.replaceAll('PRIVATE', 'PUBLIC'),
        (pem: string) => pem.replaceAll('PRIVATE', 'ENCRYPTED PRIVATE'),
        (pem: string) => pem + pem,
      ),
    ),
    { maxLength: 4 },
  )
  .map((changes) => changes.reduce((pem, change) => change(pem), PEM));

describe('whatever text comes as a key,', () => {
  it('it is a key, or one of the known reasons why it is none', () => {
    const faults = [
      'empty',
      'placeholder',
      'encrypted',
      'ec',
      'rsa-pss',
      'not-rsa',
      'too-short',
      'certificate',
      'public-key',
      'openssh',
      'damaged',
      'no-key',
    ];
    fc.assert(
      fc.property(fc.oneof({ weight: 3, arbitrary: damaged }, { weight: 1, arbitrary: fc.string() }), (pem) => {
        const reading = readPem(pem);
        if (reading.kind === 'key') expect(reading.pem.reveal()).toContain('-----BEGIN PRIVATE KEY-----');
        else expect(faults).toContain(reading.fault);
      }),
      { numRuns: 1_000 },
    );
  });

  it('nothing that is said of it repeats any of it', async () => {
    await fc.assert(
      fc.asyncProperty(damaged, async (pem) => {
        const source = keyText(pem, 'serviceAccount');
        const reading = await source.read();
        const said =
          JSON.stringify(reading) + inspect(reading, { depth: 5 }) + inspect(source, { depth: 5, showHidden: true });
        expect(PIECES.filter((piece) => said.includes(piece))).toEqual([]);
      }),
      { numRuns: 500 },
    );
  });
});
