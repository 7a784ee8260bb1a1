import { describe, expect, it } from 'vitest';
import { FakeSessionTokenSource } from '../../../src/adapters/fakes/fakes.js';
import { Credential, type SiteFields } from '../../../src/domain/credentials/credential.js';
import type { RouteAuth } from '../../../src/domain/credentials/route-auth.js';
import { sessionPlan } from '../credentials/broker-fixture.js';
import { ADA, COUNTER, request, SurfaceWorld, user } from './surface-world.js';

/** A route whose site creates the credential. */
function made({ reader = 'ada', ...given }: Partial<SiteFields> & { readonly reader?: string }): RouteAuth {
  const fields = { added: {}, forwarded: {}, response: [], ...given };
  const headers = { authorization: 'Bearer ada-token' };
  const owner = () => ({ principal: 'ada', reader });
  const credential = new Credential({ kind: 'session', headers, owner, block: 'getHeaders', fields });
  return { kind: 'headers', obtain: () => Promise.resolve(credential) };
}

describe('a cached render', () => {
  it.each([
    ['of another tenant, named by the site', { added: { 'x-tenant': 'acme' } }, { added: { 'x-tenant': 'globex' } }],
    ['whose token may be for another organization', { reader: 'token 1' }, { reader: 'token 2' }],
    [
      'who sends another value of a forwarded field',
      { forwarded: { 'x-unit': 'mm' } },
      { forwarded: { 'x-unit': 'in' } },
    ],
    ['on a route that lets another field of the platform through', { response: ['x-trace'] }, { response: ['x-run'] }],
  ])('is not served to a visitor %s', async (_who, one, other) => {
    const world = new SurfaceWorld();
    const seen: unknown[] = [];
    for (const facts of [one, other, one, other]) seen.push((await world.render(made(facts))).cache);
    expect(seen).toEqual(['MISS', 'MISS', 'HIT', 'HIT']);
  });
});

/** A platform that accepts only the new token of a session. */
class RenewalWorld extends SurfaceWorld {
  readonly source: FakeSessionTokenSource = new FakeSessionTokenSource();
  readonly #facts: { readonly tenant?: string };

  constructor(facts: { readonly tenant?: string }) {
    super();
    this.#facts = facts;
  }

  async renderWith(accessToken: string): Promise<unknown> {
    this.#hold(accessToken);
    return (await this.render(sessionPlan(this.source))).cache;
  }

  rejectOldTokens(): void {
    this.upstream.willAnswer((sent) => {
      if (sent.headers['authorization'] === 'Bearer new') return this.platform.answer(sent);
      this.#hold('new');
      return { status: 401, headers: {}, body: null };
    });
  }

  #hold(accessToken: string): void {
    this.source.session = { kind: 'token', subject: 'ada', accessToken, ...this.#facts };
  }
}

describe('a token renewed after a 401', () => {
  it.each([
    ['for the same tenant leads to a render that is cached', { tenant: 'acme' }, 'HIT'],
    ['that may be for another tenant leads to a render that is not', {}, 'MISS'],
  ])('%s', async (_what, facts, cache) => {
    const world = new RenewalWorld(facts);
    world.rejectOldTokens();
    expect(await world.renderWith('old')).toBe('MISS');
    world.upstream.willAnswer(world.platform.answer);
    expect(await world.renderWith('old')).toBe(cache);
  });

  it.each([
    ['for the same tenant revalidates a render', { tenant: 'acme' }, 'REVALIDATED'],
    ['that may be for another tenant does not', {}, 'MISS'],
  ])('%s', async (_what, facts, cache) => {
    const world = new RenewalWorld(facts);
    await world.renderWith('old');
    world.clock.advance(3_000);
    world.rejectOldTokens();
    expect(await world.renderWith('old')).toBe(cache);
  });
});

describe('an action that fails', () => {
  it('reports its own error without a cache, or without an owner of renders', async () => {
    const world = new SurfaceWorld();
    world.platform.isDown = true;
    const unreachable = { code: 'upstream_unreachable' };
    await expect(world.act(user('ada', ''))).rejects.toMatchObject(unreachable);
    await expect(world.service.action(COUNTER, 'add', request(), ADA, undefined)).rejects.toMatchObject(unreachable);
    expect(world.store.calls).toEqual({ get: 0, set: 0, delete: 0 });
  });
});
