import { FakeClock } from 'agent-bff/testing';
import { describe, expect, it, vi } from 'vitest';
import { providerFindings, tokenFindings } from '../../src/composition/cli/provider-findings.js';
import type { Finding } from '../../src/composition/cli/finding.js';
import type {
  ExpectedClaims,
  KeyFact,
  ProviderContext,
  ProviderFacts,
} from '../../src/domain/shared/provider-descriptor.js';

const NOW = Date.UTC(2026, 0, 31, 12);
const DAY_MS = 86_400_000;

type Found = Pick<Finding, 'result' | 'message'> & Partial<Finding>;
const ok = (message: string): Found => ({ result: 'ok', message });
/** Makes findings about this place. */
const about =
  (block: string, ...fields: string[]) =>
  (result: Finding['result'], message: string, fix: string): Found => ({ result, message, block, fields, fix });
const contextOf = (fetch?: unknown) =>
  ({ clock: new FakeClock(NOW), timeoutMs: 1_000, fetch }) as unknown as ProviderContext;

describe('the doctor reads a key or certificate', () => {
  const place = { block: 'idpBService', fields: ['certificatePath'] };
  const found = about('idpBService', 'certificatePath');
  const CERTIFICATE: KeyFact = { check: 'certificate', ...place, isUsable: true, detail: 'SHA-256 ab' };
  const TWICE = 'Remove "certificatePath" of "idpBService".';
  const CHECK = 'Check "certificatePath" in the "idpBService" configuration block.';
  const RENEW = 'Register a new certificate, and set "certificatePath" in the "idpBService" configuration block to it.';
  const WAIT =
    'Set the clock of this machine, or wait, or use another certificate in "certificatePath" in the "idpBService" configuration block.';
  const days = (start: number, end: number) => ({ validity: { notBefore: NOW + start, notAfter: NOW + end } });

  it.each<[string, Partial<KeyFact>, Found]>([
    ['that works', {}, ok('SHA-256 ab')],
    ['that is configured twice', { advice: TWICE }, found('warning', 'SHA-256 ab', TWICE)],
    ['that is damaged', { isUsable: false, detail: 'it is no PEM' }, found('failed', 'it is no PEM', CHECK)],
    [
      'that starts in a second',
      days(1_000, DAY_MS),
      found('failed', 'it is not valid yet: it starts on 2026-01-31', WAIT),
    ],
    ['that starts now, with its last month ahead', days(0, 30 * DAY_MS), ok('valid until 2026-03-02')],
    [
      'in its last month',
      days(-DAY_MS, 30 * DAY_MS - 1),
      found('warning', 'valid until 2026-03-02, 29 days from now', RENEW),
    ],
    ['that ends now', days(-DAY_MS, 0), found('warning', 'valid until 2026-01-31, 0 days from now', RENEW)],
    ['that has ended', days(-2 * DAY_MS, -DAY_MS), found('failed', 'it has expired: it ended on 2026-01-30', RENEW)],
  ])('%s', async (_title, fact, expected) => {
    const findings = await providerFindings({ keys: [{ ...CERTIFICATE, ...fact }] }, contextOf());
    const check = fact.validity === undefined ? 'certificate' : 'certificate dates';
    expect(findings.at(-1)).toEqual({ check, ...expected });
  });
});

describe('the doctor visits the metadata of a provider, and follows no redirect', () => {
  const url = 'https://idp.example/shop/metadata';
  const CORRECT = 'Correct "domain" in the "idpA" configuration block.';
  const failing = (error: unknown) => () => Promise.reject(error);
  const failed = (message: string, fix: string): Found => about('idpA', 'domain')('failed', message, fix);

  it.each<[string, Partial<ProviderFacts['address']>, () => Promise<Response>, Found]>([
    ['that responds', { url }, async () => new Response('{}'), ok('https://idp.example responds')],
    [
      'that is not there',
      { url },
      async () => new Response(null, { status: 404 }),
      failed(`${url} responds 404, so there is no provider of this name`, CORRECT),
    ],
    [
      'that a firewall denies',
      { url },
      async () => new Response('<h1>Denied</h1>', { status: 403 }),
      failed(
        `${url} responds 403`,
        'Look at https://idp.example, and at a firewall or proxy in front of it; or correct "domain" in the "idpA" configuration block.',
      ),
    ],
    [
      'that refuses connections',
      { url },
      failing(new TypeError('fetch failed', { cause: Object.assign(new Error('s3cr3t'), { code: 'ECONNREFUSED' }) })),
      failed(
        'https://idp.example cannot be reached: ECONNREFUSED, no server listens on this port',
        'Start the server there, or correct the port in "domain" in the "idpA" configuration block.',
      ),
    ],
    [
      'that fails for another reason',
      { url },
      failing(Object.assign(new Error('s3cr3t'), { name: 'OddError', cause: null })),
      failed('https://idp.example cannot be reached: OddError', 'Check "domain" in the "idpA" configuration block.'),
    ],
    [
      'that is out of reach, and at an address that no setting names',
      { url, host: undefined as never },
      failing(new TypeError('fetch failed', { cause: Object.assign(new Error('s3cr3t'), { code: 'ENOTFOUND' }) })),
      about('machine', 'network')(
        'failed',
        'https://idp.example cannot be reached: ENOTFOUND, no host has this name',
        'Allow this machine to reach https://idp.example over the network.',
      ),
    ],
    ['that has no address', {}, failing('not called'), { result: 'skipped', message: 'domain is not set' }],
    ['whose name is wrong', { fault: 'it is a URL' }, failing('not called'), failed('it is a URL', CORRECT)],
  ])('%s', async (_title, address, fetch, found) => {
    const setting = { block: 'idpA', field: 'domain' } as never;
    const fetched = vi.fn(fetch);
    const findings = await providerFindings(
      { keys: [], address: { host: setting, ...address, setting } },
      contextOf(fetched),
    );
    expect(findings).toEqual([{ check: 'provider', ...found }]);
    const init = { redirect: 'manual', signal: expect.any(AbortSignal) as AbortSignal };
    expect(fetched.mock.calls).toEqual(address?.url === undefined ? [] : [[url, init]]);
  });
});

describe('the doctor reads a token', () => {
  const SECONDS = NOW / 1_000;
  const tokenOf = (claims: object): string =>
    ['{"alg":"RS256"}', JSON.stringify(claims), ''].map((part) => Buffer.from(part).toString('base64url')).join('.');
  const read = (claims: object, expected?: Partial<ExpectedClaims>): readonly Finding[] => {
    const setting = { block: 'idpA', field: 'audience' } as never;
    const given = expected && { audience: [], scopes: [], setting, ...expected };
    return tokenFindings('idpA', given, { value: tokenOf(claims), expiresAt: NOW + 90_000 }, NOW);
  };
  const clock = (result: Finding['result'], message: string): Found =>
    about('machine', 'clock')(result, message, 'Set the clock of this machine, for example by NTP.');

  it('that is opaque only by its lifetime', () => {
    expect(tokenFindings('idpA', undefined, { value: 'opaque', expiresAt: NOW + 61_000 }, NOW)).toEqual([
      { check: 'expiry', ...ok('in 61 s') },
      { check: 'claims', result: 'skipped', message: 'the token is opaque, so only the platform can read it' },
    ]);
  });

  const LONGER = 'Increase the lifetime of access tokens for the "idpA" configuration block at the provider.';
  const GRANT =
    'Grant the application these scopes at the provider, or leave them out of "scope" in the "idpA" configuration block.';
  it.each<[string, object, Partial<ExpectedClaims> | undefined, Finding['check'], Found]>([
    ['of one minute', { exp: SECONDS + 60 }, undefined, 'expiry', ok('in 60 s')],
    ['of less than a minute', { exp: SECONDS + 59 }, undefined, 'expiry', about('idpA')('warning', 'in 59 s', LONGER)],
    [
      'that ends now',
      { exp: SECONDS },
      undefined,
      'expiry',
      clock('failed', 'the token ended 0 s ago, by the local clock'),
    ],
    [
      'that has ended',
      { exp: SECONDS - 7 },
      undefined,
      'expiry',
      clock('failed', 'the token ended 7 s ago, by the local clock'),
    ],
    ['with an end that is no number', { exp: 'soon' }, undefined, 'expiry', ok('in 90 s')],
    ['without an audience', {}, undefined, 'audience', ok('none in the token')],
    ['for one API', { aud: 'api' }, { audience: ['', 'api'] }, 'audience', ok('api')],
    ['for several APIs', { aud: ['x', 7, 'api'] }, { audience: ['api'] }, 'audience', ok('x api')],
    ['for any API', { aud: 'x' }, { audience: [''] }, 'audience', ok('x')],
    [
      'for another API',
      { aud: ['x', 'y'] },
      { audience: ['api'] },
      'audience',
      about('idpA', 'audience')(
        'failed',
        'the token is for x y',
        'Check "audience" in the "idpA" configuration block.',
      ),
    ],
    [
      'with scopes and roles',
      { scope: 'a  b', scp: ['c'], roles: ['d'] },
      { scopes: ['a', 'd'] },
      'scope',
      ok('a b c d'),
    ],
    ['without scopes', {}, undefined, 'scope', ok('none in the token')],
    [
      'with fewer scopes',
      { scope: 'a' },
      { scopes: ['b', 'a', 'c'] },
      'scope',
      about('idpA', 'scope')('failed', 'not granted: b c', GRANT),
    ],
    ['of the same second', { iat: SECONDS + 30 }, undefined, 'clock', ok("agrees with the provider's")],
    ['without a time', { iat: 'now' }, undefined, 'clock', ok("agrees with the provider's")],
    [
      'from the past',
      { iat: SECONDS - 31 },
      undefined,
      'clock',
      clock('warning', "the local clock is 31 s ahead of the provider's: tokens may be refused"),
    ],
    [
      'from the future',
      { iat: SECONDS + 31 },
      undefined,
      'clock',
      clock('warning', "the local clock is 31 s behind the provider's: tokens may be refused"),
    ],
  ])('%s', (_title, claims, expected, check, found) => {
    expect(read(claims, expected).find((one) => one.check === check)).toEqual({ check, ...found });
  });
});
