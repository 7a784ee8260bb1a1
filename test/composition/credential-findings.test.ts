import { configFromEnv, type ServerConfig, type ToolkitPorts } from 'agent-bff';
import { FakeIdentityProvider, FakeTokenExchange, FakeUpstream } from 'agent-bff/testing';
import { describe, expect, it, vi } from 'vitest';
import type { Terminal } from '../../src/composition/cli/command-line.js';
import { examine, tell } from '../../src/composition/cli/doctor.js';
import type { Finding } from '../../src/composition/cli/finding.js';
import type { IssueOutcome } from '../../src/ports/identity-provider.js';
import { lineOf } from './examined-agent.js';

const A2A: ServerConfig = { a2aUrl: 'https://agent.example/a2a' };
const OPEN: ServerConfig = { ...A2A, serviceAuthStrategy: 'none' };

/** An agent without a card that refuses every message. */
const refusing = () =>
  new FakeUpstream(({ method }) => ({ status: method === 'POST' ? 401 : 404, headers: {}, body: null }));

async function findingsOf(config: ServerConfig, ports: ToolkitPorts = {}, isProduction = false) {
  const findings = await examine(config, { upstream: refusing(), ...ports }, undefined, undefined, isProduction);
  return findings.map(lineOf);
}

/** A provider of the site with one outcome for every token. */
function okta(answer: () => IssueOutcome): ToolkitPorts {
  const provider = Object.assign(new FakeIdentityProvider('okta'), { answer });
  return { identityProviders: { okta: provider } };
}
const CUSTOM: ServerConfig = { ...A2A, serviceAuthStrategy: 'okta' };
const STRATEGY = 'Check "serviceAuthStrategy" in configureServer.';
const NO_SERVICE = 'no service credential: routes with "auth" send that of the user, others answer 401';
const CHOOSE =
  'For routes without "auth", fill the configuration block of a strategy and name it in "serviceAuthStrategy" or "authProvider", or set "serviceApiKey", in configureServer. For an agent without authentication, the strategy is "none".';
const APPLICATION = { tenantId: 't', clientId: 'c', clientSecret: 'hunter2-hunter2' };
const offline = (() => Promise.reject(new TypeError('fetch failed'))) as typeof fetch;

describe('the doctor reports', () => {
  it.each<[string, ServerConfig, ToolkitPorts, string]>([
    ['the agent', OPEN, {}, 'ok agent address: https://agent.example/a2a'],
    ['a missing agent', {}, {}, 'failed agent address: is not set | Set "a2aUrl" in configureServer.'],
    [
      'a missing platform',
      OPEN,
      {},
      'skipped platform address: is not set; only widgets, records and the project need it',
    ],
    [
      'a missing platform that is the audience',
      { ...A2A, serviceAccount: { serviceAccountId: 's', keyId: 'k', privateKeyPem: 'x' } },
      {},
      'failed platform address: is not set | Set "serviceApiUrl" in configureServer.',
    ],
    [
      'conversations that the routes decide',
      OPEN,
      {},
      'skipped conversations: as the routes set them; without "conversations", open',
    ],
    [
      'open conversations',
      { ...OPEN, conversations: 'open' },
      {},
      'ok conversations: open, unless a route sets "conversations" to "visitor"; anyone who learns an id can read and continue them',
    ],
    ['those of visitors', { ...OPEN, conversations: 'visitor' }, {}, 'ok conversations: belong to their visitors'],
    ['a missing credential', A2A, {}, `warning strategy: ${NO_SERVICE} | ${CHOOSE}`],
    ['no credential', OPEN, {}, 'ok strategy: none: calls to the agent carry no credential'],
    [
      'an API key',
      { ...A2A, serviceApiKey: 'hunter2' },
      {},
      'ok strategy: the API key alone; there is no token to test',
    ],
    [
      'a fixed token',
      { ...A2A, serviceAuthStrategy: 'static_token', serviceToken: 'hunter2' },
      {},
      'ok strategy: a fixed token, "serviceToken"',
    ],
    [
      'a provider',
      CUSTOM,
      okta(() => ({ kind: 'token', token: { value: 'x', expiresAt: Infinity } })),
      'ok strategy: okta',
    ],
    [
      'a token',
      CUSTOM,
      okta(() => ({ kind: 'token', token: { value: 'x', expiresAt: Date.now() + 30_400 } })),
      'warning expiry: in 30 s | Increase the lifetime of access tokens for the "okta" configuration block at the provider.',
    ],
    [
      'a token that ends in seconds, and not a wrong clock',
      CUSTOM,
      okta(() => ({ kind: 'token', token: { value: 'x', expiresAt: Date.now() / 1_000 + 3_600 } })),
      'failed token: "issue" of "okta" returned "token.expiresAt" in seconds: return milliseconds, 1,000 times as much | Correct what it returns. Correct "identityProviders" in configureServer.',
    ],
    [
      'a refused token',
      CUSTOM,
      okta(() => ({
        kind: 'failure',
        reason: 'refused',
        block: 'okta',
        fields: ['key'],
        advice: 'Renew "key" of okta.',
        log: 'it is old',
      })),
      'failed token: it is old | Renew "key" of okta.',
    ],
    [
      'a provider that throws an error',
      CUSTOM,
      okta(() => {
        throw new TypeError('hunter2');
      }),
      `failed token: the provider of this strategy threw TypeError | ${STRATEGY}`,
    ],
    [
      'a provider that throws a text',
      CUSTOM,
      okta(() => {
        // oxlint-disable-next-line no-throw-literal, only-throw-error
        throw 'hunter2';
      }),
      `failed token: the provider of this strategy threw string | ${STRATEGY}`,
    ],
    [
      'a missing user',
      { ...A2A, onBehalfOf: {}, idpBService: APPLICATION },
      { tokenExchange: new FakeTokenExchange(), identityFetch: offline },
      "skipped strategy: no service credential: only users' tokens are exchanged",
    ],
    [
      'a misspelt variable',
      configFromEnv({ A2A_URL: 'https://agent.example/a2a', IDP_A_DOMIAN: 'x' }),
      {},
      'failed environment: IDP_A_DOMIAN: unknown environment variable. | Did you mean IDP_A_DOMAIN? Correct the environment variable IDP_A_DOMIAN, or remove it.',
    ],
    [
      'a variable of another program',
      configFromEnv({ A2A_URL: 'https://agent.example/a2a', PUBLIC_URL: '/' }),
      {},
      'warning environment: PUBLIC_URL: ignored, because it is not a URL such as https://site.example. | Set "publicUrl" in configureServer if this variable belongs to another program. Correct the environment variable PUBLIC_URL.',
    ],
  ])('%s', async (_what, config, ports, line) => {
    const lines = (await findingsOf(config, ports)).map((one) => one.replace(/ at \S+ \(.*\)(?= \|)/, ''));
    expect(lines.join()).not.toContain('hunter2');
    expect(lines.filter((one) => one.startsWith(line.split(':')[0] ?? ''))).toEqual([line]);
  });

  it.each<[string, ServerConfig, ToolkitPorts, readonly string[]]>([
    ['no credential', OPEN, {}, ['serviceAuthStrategy', 'serviceToken']],
    ['an API key', { ...A2A, serviceApiKey: 'hunter2' }, {}, ['serviceApiKey']],
    ['a fixed token', { ...A2A, serviceAuthStrategy: 'static_token', serviceToken: 'hunter2' }, {}, ['serviceToken']],
  ])('the field to check when the agent refuses %s', async (_what, config, ports, fields) => {
    const findings = await examine(config, { upstream: refusing(), ...ports });
    expect(findings.at(-1)).toMatchObject({ check: 'agent', result: 'failed', block: 'configureServer', fields });
  });

  it.each([
    [{}, false, ['skipped site: not checked: "publicUrl" is not set (PUBLIC_URL)']],
    [
      {},
      true,
      [
        'warning public address: is not set, so the origin check uses the Host field of each request | Set "publicUrl" in configureServer to the address visitors use, such as https://site.example.',
      ],
    ],
    [
      { publicUrl: 'https://site.example' },
      true,
      [
        'ok public address: https://site.example',
        'skipped error page: https://site.example does not respond; try again when the site runs',
      ],
    ],
  ])('the public address of %j, in production: %s', async (changes, isProduction, lines) => {
    vi.stubGlobal('fetch', () => Promise.reject(new TypeError('fetch failed')));
    const found = await findingsOf({ ...OPEN, ...changes }, {}, isProduction);
    expect(found.slice(2, 2 + lines.length)).toEqual(lines);
    expect(found[2 + lines.length]).toContain('platform address');
  });
});

describe('the doctor prints', () => {
  const ok: Finding = { check: 'token', result: 'ok', message: 'obtained\u202e' };
  const place = { block: 'configureServer', fields: ['a2aUrl'] };
  const warned: Finding = { check: 'agent address', result: 'warning', message: 'other', fix: 'Set it.', ...place };
  const untried: Finding = { ...warned, check: 'agent' };
  const failed: Finding = { ...warned, result: 'failed', fix: 'Set A2A_URL.' };
  const skipped: Finding = { check: 'surface', result: 'skipped', message: 'skipped' };

  function printed(findings: readonly Finding[], asJson = false, byVariables = false) {
    const lines: string[] = [];
    const terminal = { print: (line: string) => lines.push(line) } as unknown as Terminal;
    const status = tell(findings, terminal, asJson, byVariables);
    return [status, ...lines.join('\n').split('\n')];
  }

  it.each<[readonly Finding[], boolean, readonly (string | number)[]]>([
    [
      [ok, skipped],
      false,
      [0, String.raw`✓ token             obtained\u202e`, '- surface           skipped', '', 'All is well.'],
    ],
    [
      [warned],
      true,
      [0, '! agent address     other', '    fix: Set it. (A2A_URL)', '', 'All is well. 1 to review, marked with "!".'],
    ],
    [
      [untried, warned],
      false,
      [
        0,
        '! agent             other',
        '    fix: Set it.',
        '! agent address     other',
        '    fix: Set it.',
        '',
        'Nothing to fix, but the credential was not tried. 2 to review, marked with "!".',
      ],
    ],
    [
      [{ ...failed, fix: 'Set A2A_URL\u202e.' }, warned],
      true,
      [
        1,
        '✗ agent address     other',
        String.raw`    fix: Set A2A_URL\u202e.`,
        '! agent address     other',
        '    fix: Set it. (A2A_URL)',
        '',
        '1 to fix.',
      ],
    ],
  ])('%j, with variables: %s', (findings, byVariables, lines) => {
    expect(printed(findings, false, byVariables)).toEqual(lines);
  });

  it.each([
    [[ok, warned], true, 0],
    [[ok, failed], false, 1],
  ])('JSON of %j', (findings, isWell, expected) => {
    const [status, ...lines] = printed(findings, true, true);
    const variables = ['A2A_URL'];
    const first = { ...ok, message: String.raw`obtained\u202e` };
    expect(JSON.parse(lines.join('\n'))).toEqual({ ok: isWell, findings: [first, { ...findings[1], variables }] });
    expect(status).toBe(expected);
  });
});
