import { performance } from 'node:perf_hooks';
import { expect, it } from 'vitest';
import type { IdentityProvider, IssueFailure } from '../../src/ports/identity-provider.js';
import { lostFetch, type Faults, type TrustingFetch } from '../support/identity-provider/index.js';

/** A provider that gets its tokens over OAuth at a double, and how its failures look. */
export interface OAuthFailureCases {
  /** The faults of the double. */
  readonly faults: Faults;
  /** Makes the provider, with other settings where they are named. */
  readonly provider: (change: {
    readonly timeoutMs?: number;
    readonly fetch?: TrustingFetch['fetch'] | undefined;
  }) => IdentityProvider;
  /** Makes the provider for a double at `https://idp.example`. */
  readonly elsewhere: (fetch: TrustingFetch['fetch']) => IdentityProvider;
  /** Asks for a token and gives the failure; throws when it was a token. */
  readonly failureOf: (from: IdentityProvider) => Promise<IssueFailure>;
  /** What the failure holds when the double cannot be reached. */
  readonly outage: object;
  /** What the detail calls a deadline that has passed. */
  readonly deadline: string;
}

/** What every such provider does about a double that is slow. */
export function slowProviderContract({ faults, provider, failureOf, outage, deadline }: OAuthFailureCases): void {
  const inTime = async (slow: IdentityProvider): Promise<number> => {
    const start = performance.now();
    const failure = await failureOf(slow);
    expect(failure).toMatchObject(outage);
    expect(failure.detail).toContain(deadline);
    return performance.now() - start;
  };

  it.each(['token', 'metadata'] as const)('is given up when its %s endpoint hangs', async (endpoint) => {
    faults[endpoint] = { hang: true };
    expect(await inTime(provider({ timeoutMs: 150 }))).toBeLessThan(1000);
  });

  it('is given up when discovery and token together take too long', async () => {
    faults.metadata = { delayMs: 200 };
    faults.token = { delayMs: 200 };
    expect(await inTime(provider({ timeoutMs: 300 }))).toBeLessThan(1000);
  });

  it('is given up even when a custom fetch never heeds its signal', async () => {
    const stuck = provider({ timeoutMs: 57, fetch: () => new Promise(() => undefined) });
    expect(await inTime(stuck)).toBeLessThan(1000);
    expect(await inTime(stuck)).toBeLessThan(1000);
  });

  it('is asked again, and its metadata too, once it answers', async () => {
    faults.metadata = { hang: true, times: 1 };
    const healing = provider({ timeoutMs: 500 });
    await inTime(healing);
    expect((await healing.issue(Date.now())).kind).toBe('token');
  });
}

/** What every such provider says when its double is not found, or not trusted. */
export function unreachableProviderContract({ provider, elsewhere, failureOf, outage }: OAuthFailureCases): void {
  it('is unavailable when its name is not found', async () => {
    const lost = lostFetch();
    const failure = await failureOf(elsewhere(lost.fetch));
    expect(failure).toMatchObject(outage);
    expect(failure.detail).toContain('ENOTFOUND');
    await lost.close();
  });

  it('is unavailable when its certificate is not trusted, and the log says what to do', async () => {
    const failure = await failureOf(provider({ fetch: undefined }));
    expect(failure).toMatchObject(outage);
    expect(failure.detail).toContain('NODE_EXTRA_CA_CERTS');
  });
}

/** When the token of every such provider ends; `lifeWith` is its life in milliseconds after the answer was changed. */
export function tokenEndContract(lifeWith: (change: Record<string, unknown>) => Promise<number>): void {
  it('is read from a number in a string', async () => {
    expect(await lifeWith({ expires_in: '120' })).toBe(120_000);
  });

  it.each([undefined, null, '', 'soon', -1, 0, {}])('is the token’s own when expires_in is %j', async (odd) => {
    const life = await lifeWith({ expires_in: odd });
    // The provider rounds to whole seconds, on its own clock.
    expect(life).toBeGreaterThan(290_000);
    expect(life).toBeLessThan(330_000);
  });

  it('is a day away at most', async () => {
    expect(await lifeWith({ expires_in: 31_536_000 })).toBe(86_400_000);
  });
}
