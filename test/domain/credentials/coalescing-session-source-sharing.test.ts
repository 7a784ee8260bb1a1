import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { HeaderFields, RequestContext } from '../../../src/ports/http.js';
import type { SessionToken } from '../../../src/ports/session-token-source.js';
import { RotatingSessions } from './rotating-sessions.js';
import { request, SessionWorld } from './session-fixture.js';

describe('different users', () => {
  const pairs: Readonly<Record<string, readonly [HeaderFields, HeaderFields]>> = {
    'another session cookie': [{ cookie: 'sid=anna' }, { cookie: 'sid=bert' }],
    'another chunk of it': [{ cookie: 'sid.0=x; sid.1=anna' }, { cookie: 'sid.0=x; sid.1=bert' }],
    'another chunk in the other style': [{ cookie: 'sid__0=x; sid__1=anna' }, { cookie: 'sid__0=x; sid__1=bert' }],
    'two cookies of one name in another order': [{ cookie: 'sid=anna; sid=bert' }, { cookie: 'sid=bert; sid=anna' }],
    'a value with an equals sign': [{ cookie: 'sid=a=1' }, { cookie: 'sid=a=2' }],
    'another authorization': [
      { cookie: 'sid=x', authorization: 'Bearer anna' },
      { cookie: 'sid=x', authorization: 'Bearer bert' },
    ],
    'another host': [
      { cookie: 'sid=x', host: 'a.example' },
      { cookie: 'sid=x', host: 'b.example' },
    ],
    'no session cookie at all': [{ cookie: 'theme=dark' }, { cookie: 'theme=dark' }],
    'a cookie whose name only begins alike': [{ cookie: 'sid-old=x' }, { cookie: 'sid-old=x' }],
    'no cookie': [{}, {}],
  };
  it.each(Object.entries(pairs))('cause one call each with %s', async (_name, [anna, bert]) => {
    const world = new SessionWorld();
    expect(await Promise.all([world.get(anna), world.get(bert)])).toEqual(['token-1', 'token-2']);
    expect(await world.get(bert)).not.toBe('token-1');
  });

  it('each register their token for redaction, even a shared one', async () => {
    const world = new SessionWorld();
    await Promise.all([world.get('sid=x'), world.get('sid=x'), world.get('sid=y')]);
    await world.get('sid=x');
    expect(world.hidden.sort()).toEqual(['token-1', 'token-1', 'token-1', 'token-2']);
  });

  it('are distinguished by the name of the source', () => {
    expect(new SessionWorld().tokens.name).toBe('staff');
  });

  it('do not share a call for a source without session cookies', async () => {
    const world = new SessionWorld([]);
    expect(await Promise.all([world.get('sid=x'), world.get('sid=x')])).toEqual(['token-1', 'token-2']);
  });

  it('each receive their own token and remain signed in, in any order and timing', async () => {
    const users = ['anna', 'bert', 'cleo'];
    const visit = fc.record({ user: fc.constantFrom(...users), stale: fc.boolean() });
    const step = fc.record({
      waitMs: fc.constantFrom(0, 1, 900, 4_999, 9_999, 10_000, 61_000),
      visits: fc.array(visit, { maxLength: 6 }),
      delays: fc.infiniteStream(fc.integer({ min: 0, max: 4 })),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 20 }), async (steps) => {
        const sessions = new RotatingSessions(users);
        const tokens = sessions.tokens();
        for (const { waitMs, visits, delays } of steps) {
          sessions.clock.advance(waitMs);
          sessions.delay = () => Number(delays.next().value);
          await Promise.all(
            visits.map(async ({ user, stale }) => {
              const asking = sessions.visit(user, stale);
              const found = await tokens.getToken(asking, {});
              expect(found.kind === 'token' ? found.accessToken : found).toMatch(new RegExp(`^${user}-`));
              sessions.receive(user, asking);
            }),
          );
        }
      }),
      { numRuns: 300 },
    );
  });
});

describe('a source with a session version', () => {
  const LATER = Promise.resolve('r1');
  const named = (version: unknown, cookie: string): RequestContext => ({
    headers: { cookie },
    native: { request: { version } },
  });
  const versioned = (): SessionWorld => {
    const world = new SessionWorld();
    world.sessionVersion = ({ native }) => (native.request as { version?: string }).version;
    return world;
  };

  it.each<[string, ...(readonly [unknown, string])[]]>([
    ['shares a token among requests with old and new cookies', ['r1', 'sid=a'], ['r1', 'sid=b'], ['r2', 'sid=b']],
    ['falls back to the cookies without a version', [undefined, 'sid=a'], [undefined, 'sid=a'], [undefined, 'sid=b']],
    ['falls back to the cookies if the version is empty', ['', 'sid=a'], ['', 'sid=a'], ['', 'sid=b']],
    // The same JSON for all users: a promise, or the session itself.
    ['falls back to the cookies if the version is no text', [LATER, 'sid=a'], [LATER, 'sid=a'], [LATER, 'sid=b']],
  ])('%s', async (_what, ...requests) => {
    const world = versioned();
    const visits = requests.map(([version, cookie]) => named(version, cookie));
    const found = await Promise.all(visits.map((visit) => world.tokens.getToken(visit, {})));
    expect(found.map((token) => token.kind === 'token' && token.accessToken)).toEqual([
      'token-1',
      'token-1',
      'token-2',
    ]);
  });

  it('stores only a hash of the version', async () => {
    const world = versioned();
    const hashed: string[] = [];
    world.hash = (text) => `#${String(hashed.push(text))}`;
    await world.tokens.getToken(named('a refresh token', 'sid=a'), {});
    expect(hashed[0]).toContain('a refresh token');
  });
});

describe('a refreshed session cookie', () => {
  it('is sent with the response of the first request only', async () => {
    const sessions = new RotatingSessions(['anna']);
    const tokens = sessions.tokens();
    sessions.clock.advance(61_000);
    const visits = Array.from({ length: 6 }, () => sessions.visit('anna'));
    await Promise.all(visits.map((visit) => tokens.getToken(visit, {})));
    expect(visits.map((visit) => sessions.cookiesOf(visit).length)).toEqual([1, 0, 0, 0, 0, 0]);
    expect(sessions.refreshes).toBe(1);
  });

  it('is passed to every request that shares the token, including in the grace period', async () => {
    const world = new SessionWorld();
    const adopted: unknown[] = [];
    world.answer = (number) =>
      ({ ...world.token(number), adopt: (to: RequestContext) => adopted.push(to) }) as SessionToken;
    const [first, second, third] = [1, 2, 3].map(() => request({ cookie: 'sid=anna' })) as [
      RequestContext,
      RequestContext,
      RequestContext,
    ];
    await Promise.all([world.tokens.getToken(first, {}), world.tokens.getToken(second, {})]);
    await world.tokens.getToken(third, {});
    expect(adopted).toEqual([second, third]);
    expect(adopted[0]).toBe(second);
    expect(adopted[1]).toBe(third);
  });

  it('is set by the library on the original request, not on a copy', async () => {
    const world = new SessionWorld();
    const first = request({ cookie: 'sid=anna' });
    await world.tokens.getToken(first, {});
    expect(world.asked[0]?.request).toBe(first);
  });
});
