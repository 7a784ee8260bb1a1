import * as v from 'valibot';
import { ConfigurationError } from '../../domain/errors.js';
import { nearest } from '../../domain/shared/nearest.js';
import { hasMethods } from '../../domain/shared/option-checks.js';
import { HEADER_KEY, isHeaderKey } from './header-secret.js';
import { AUTH_PROVIDERS } from './provider-flows.js';
import { nameHint, STRATEGIES } from './strategy-names.js';

const text = v.optional(v.string());
const headerKey = v.optional(
  v.pipe(
    v.string(),
    v.check((key) => key === '' || isHeaderKey(key), HEADER_KEY),
  ),
);
/** The longest a timer of Node can wait, 24 days; one that is to wait longer fires at once. */
const LONGEST_MS = 2_147_483_647;
const milliseconds = v.optional(v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(LONGEST_MS)));
/** Of a wait that cannot be left out. */
const someMilliseconds = v.optional(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(LONGEST_MS)));
const store = v.custom<string | object>(
  (value) => typeof value === 'string' || hasMethods(value, ['get', 'set', 'delete']),
  'an address, or an object with get, set and delete',
);

const blocks = {
  serviceAccount: v.strictObject({
    serviceAccountId: text,
    keyId: text,
    privateKeyPem: text,
    privateKeyPath: text,
    audience: v.optional(v.union([v.string(), v.array(v.string()), v.literal(false)])),
    subject: text,
    issuer: text,
    claims: v.optional(v.record(v.string(), v.unknown())),
  }),
  idpA: v.strictObject({ domain: text, clientId: text, clientSecret: text, audience: text, scope: text, realm: text }),
  idpAServiceUser: v.strictObject({ username: text, password: text }),
  idpBService: v.strictObject({
    tenantId: text,
    clientId: text,
    scope: text,
    clientSecret: text,
    certificatePath: text,
    privateKeyPath: text,
  }),
  onBehalfOf: v.strictObject({
    provider: text,
    scope: text,
    audience: text,
    subjectTokenType: text,
    clientId: text,
    tenantId: text,
    clientSecret: text,
    certificatePath: text,
    privateKeyPath: text,
  }),
  timeouts: v.strictObject({
    connectMs: milliseconds,
    headersMs: milliseconds,
    bodyIdleMs: milliseconds,
    bodyMs: milliseconds,
    streamIdleMs: milliseconds,
    requestBodyMs: milliseconds,
    requestIdleMs: milliseconds,
    sendIdleMs: milliseconds,
    lookupMs: someMilliseconds,
    identityProviderMs: someMilliseconds,
    sessionMs: milliseconds,
    cacheMs: someMilliseconds,
  }),
};

const fields = {
  a2aUrl: text,
  serviceApiUrl: text,
  serviceApiKey: headerKey,
  serviceProjectId: text,
  serviceAuthStrategy: text,
  authProvider: text,
  serviceAccount: v.optional(blocks.serviceAccount),
  idpA: v.optional(blocks.idpA),
  idpAServiceUser: v.optional(blocks.idpAServiceUser),
  idpBService: v.optional(blocks.idpBService),
  publicUrl: text,
  agentCardUrl: text,
  bindings: v.optional(v.array(v.picklist(['JSONRPC', 'HTTP+JSON']))),
  // Looked at by its own reader, which knows what a path may be.
  upstream: v.optional(v.custom<object>((value) => typeof value === 'object' && value !== null, 'an object')),
  a2aMethods: v.optional(v.union([v.picklist(['chat', 'all']), v.array(v.string())])),
  timeouts: v.optional(blocks.timeouts),
  bodyLimitBytes: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1))),
  maxInFlight: v.optional(v.pipe(v.number(), v.integer(), v.minValue(0))),
  keepAliveMs: milliseconds,
  allowedOrigins: v.optional(v.array(v.string())),
  allowedHosts: v.optional(v.array(v.string())),
  authUnavailableStatus: v.optional(v.picklist([401, 503])),
  onBehalfOf: v.optional(blocks.onBehalfOf),
  cacheStore: v.optional(store),
  cacheKeys: v.optional(v.array(v.string())),
  chatLimit: v.optional(v.custom<object>((value) => hasMethods(value, ['admit']), 'an object with admit')),
  telemetry: v.optional(
    v.custom<object>(
      (value) => value === 'silent' || [value].flat().every((one) => hasMethods(one, ['emit'])),
      'an object with emit, several, or "silent"',
    ),
  ),
};

const schema = v.strictObject(fields);

/**
 * Checks what is wrong whatever happens later: unknown fields, values of a wrong type, unknown strategies and providers.
 *
 * @throws ConfigurationError naming block, field and the nearest valid value.
 */
export function checkConfig(config: unknown, customProviders: ReadonlySet<string>): void {
  const result = v.safeParse(schema, config, { abortPipeEarly: true });
  if (!result.success) throw configurationError(result.issues[0]);
  checkName('serviceAuthStrategy', result.output.serviceAuthStrategy, [...STRATEGIES, ...customProviders]);
  checkName('provider', result.output.onBehalfOf?.provider, AUTH_PROVIDERS);
  checkName('authProvider', result.output.authProvider, [...AUTH_PROVIDERS, ...customProviders]);
}

function checkName(field: string, value: string | undefined, known: readonly string[]): void {
  const hint = value === undefined || value === '' ? undefined : nameHint(value, known);
  if (hint === undefined) return;
  const detail = `Invalid value for "${field}" in configureServer.`;
  throw new ConfigurationError({ detail, hint, block: 'configureServer', fields: [field] });
}

function configurationError(issue: v.BaseIssue<unknown>): ConfigurationError {
  const [first = '', second = ''] = (issue.path ?? []).map(({ key }) => String(key));
  // A place inside a list, or deeper inside a block's field, is still that field.
  const block = second !== '' && Object.hasOwn(blocks, first) ? first : '';
  const field = block === '' ? first : second;
  const inside = block === '' ? 'configureServer' : `the "${block}" configuration block`;
  const known = Object.keys(block === '' ? fields : (blocks[block as keyof typeof blocks]?.entries ?? {}));
  // Values are never quoted: a secret may sit in the wrong field.
  if (field === '') {
    return new ConfigurationError({
      detail: 'The configuration is not an object.',
      hint: 'Pass an object to configureServer.',
      block: 'configureServer',
    });
  }
  if (!known.includes(field) && issue.expected === 'never') {
    return new ConfigurationError({
      detail: `Unknown field "${field}" in ${inside}.`,
      hint: `Did you mean "${nearest(field, known)}"?`,
      block: block === '' ? 'configureServer' : block,
      fields: [field],
    });
  }
  return new ConfigurationError({
    detail: `Invalid value for "${field}" in ${inside}.`,
    hint: `Set it to ${expected(issue)}.`,
    block: block === '' ? 'configureServer' : block,
    fields: [field],
  });
}

function expected(issue: v.BaseIssue<unknown>): string {
  if (issue.type === 'custom' || issue.type === 'check') return issue.message;
  if (issue.type === 'integer') return 'a whole number';
  const { requirement } = issue;
  if (issue.type === 'min_value') return `a number of at least ${String(requirement)}`;
  if (issue.type === 'max_value') return `a number of at most ${String(requirement)}`;
  return (issue.expected ?? 'another value').replaceAll(/[()]/g, '').replaceAll(' | ', ' or ');
}
