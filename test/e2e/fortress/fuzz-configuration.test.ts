import { inspect } from 'node:util';
import { type ConfigurationError, configFromEnv, createToolkit, type ServerConfig } from 'agent-bff';
import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { resolveConfig } from '../../../src/composition/config/resolve-config.js';

// Thousands of runs are slow on a busy machine.
vi.setConfig({ testTimeout: 120_000 });

/** Part of every value, so that a message that quotes a value contains it. */
const SECRET = 'S3cret';

const FIELDS = (
  'a2aUrl serviceApiUrl serviceApiKey serviceProjectId serviceAuthStrategy authProvider publicUrl serviceAccount idpA ' +
  'idpAServiceUser idpBService agentCardUrl bindings upstream a2aMethods timeouts bodyLimitBytes maxInFlight keepAliveMs ' +
  'allowedOrigins mediaOrigins trustBrandCss allowedHosts authUnavailableStatus onBehalfOf cacheStore cacheKeys chatLimit userLimit ' +
  'telemetry __proto__ constructor toString '
).split(' ');
const INNER = (
  'serviceAccountId privateKeyPem privateKeyPath audience claims domain clientId clientSecret username password tenantId ' +
  'certificatePath provider scope connectMs lookupMs paths headers surface conversations apiKey projectId get set delete ' +
  'emit __proto__ length 0'
).split(' ');
const VARIABLES = (
  'A2A_URL A2A_URI SERVICE_API_KEY SERVICE_APIKEY IDP_A_DOMAIN IDP_A_DOMAN PUBLIC_URL CACHE_URL SERVICE_AUTH_STRATEGY ' +
  'SERVICE_ACCOUNT_PRIVATE_KEY IDP_B_CLIENT_SECRET PATH __proto__ constructor toString'
).split(' ');

const text = fc.oneof(
  fc.string().map((rest) => SECRET + rest),
  fc.constantFrom(`https://${SECRET}.example/x`, `https://user:${SECRET}@p.example`, `http://p.example?k=${SECRET}`),
  fc.constantFrom(`/${SECRET}/{path}`, `${SECRET}\n`),
);
const odd = [Symbol('s'), 10n, () => SECRET, new Date(0), new Map([[SECRET, SECRET]]), /x/];
const scalar = fc.oneof(
  { weight: 4, arbitrary: text },
  { weight: 1, arbitrary: fc.constantFrom(0, -1, 1.5, NaN, Infinity, 7, null, undefined, true, '', 401) },
  { weight: 1, arbitrary: fc.constantFrom(...odd) },
);
const innerName = fc.constantFrom(...INNER);
const block = fc.dictionary(fc.oneof(innerName, fc.string({ maxLength: 5 })), scalar, { maxKeys: 4 });
const inner = fc.oneof(
  { weight: 3, arbitrary: scalar },
  { weight: 3, arbitrary: block },
  { weight: 1, arbitrary: fc.array(scalar, { maxLength: 3 }) },
  { weight: 1, arbitrary: fc.dictionary(innerName, fc.dictionary(innerName, scalar, { maxKeys: 3 }), { maxKeys: 2 }) },
);
const fieldName = fc.oneof(
  { weight: 9, arbitrary: fc.constantFrom(...FIELDS) },
  { weight: 1, arbitrary: fc.string({ maxLength: 6 }) },
);
const anything = fc.anything({
  withBigInt: true,
  withDate: true,
  withMap: true,
  withNullPrototype: true,
  withSet: true,
});
const configuration = fc.oneof(
  { weight: 8, arbitrary: fc.dictionary(fieldName, inner, { maxKeys: 3 }) },
  { weight: 1, arbitrary: inner },
  { weight: 1, arbitrary: anything },
);

/** Expects an error that names a block and shows no value in any print. */
function expectNamedRefusal(error: unknown): void {
  expect(error).toMatchObject({
    name: 'ConfigurationError',
    code: 'configuration_invalid',
    block: expect.stringMatching(/./) as string,
  });
  const { message, detail, hint, stack } = error as ConfigurationError;
  const shown = [
    message,
    detail,
    hint,
    (error as ConfigurationError).logDetail(),
    JSON.stringify(error),
    inspect(error),
  ];
  expect([...shown, String(stack)].join('\n')).not.toContain(SECRET);
}

describe('a random configuration', () => {
  it('is accepted, or rejected with an error that names the block and quotes no value', () => {
    const seen = { accepted: 0, refused: 0 };
    fc.assert(
      fc.property(configuration, (config) => {
        try {
          resolveConfig(config as ServerConfig);
          seen.accepted += 1;
        } catch (error) {
          seen.refused += 1;
          expectNamedRefusal(error);
        }
      }),
      { numRuns: 3_000 },
    );
    expect(seen.accepted).toBeGreaterThan(50);
    expect(seen.refused).toBeGreaterThan(500);
  });

  it('does not appear in a toolkit that is inspected or serialized', async () => {
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

  it('in environment variables is accepted, or rejected with an error that quotes no value', () => {
    const name = fc.oneof(
      { weight: 2, arbitrary: fc.constantFrom(...VARIABLES) },
      { weight: 1, arbitrary: fc.string({ maxLength: 6 }).map((rest) => `SERVICE_${rest}`) },
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
