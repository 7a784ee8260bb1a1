import { describe, expect, it } from 'vitest';
import { FakeUpstream } from '../../../src/adapters/fakes/fakes.js';
import { sha256 } from '../../../src/adapters/system/system.js';
import type { RouteAuth } from '../../../src/domain/credentials/route-auth.js';
import type { PlatformApi } from '../../../src/domain/upstream/platform-api.js';
import { Caller } from '../../../src/domain/upstream/platform-call.js';
import { PlatformDirectory } from '../../../src/domain/upstream/platform-directory.js';
import type { HttpResponse } from '../../../src/ports/http.js';
import { WatchedBody } from '../chat/chat-world.js';
import { BrokerWorld, REQUEST, SERVICE, TIMEOUTS } from '../credentials/broker-fixture.js';
import { API, user } from '../surfaces/surface-world.js';
import { checkedStyles } from './checked-styles.js';
import { FakeDeadlines } from './fake-deadlines.js';
import { memoryOf } from '../../support/memory.js';

const JSON_TYPE = { 'content-type': 'application/json' };
const PROJECT = { status: 200, headers: JSON_TYPE, body: '{"id":"proj-9"}' };
const BRAND = { status: 200, headers: { 'content-type': 'text/css' }, body: ':root{--brand:#123}' };

class DirectoryWorld extends BrokerWorld {
  readonly upstream: FakeUpstream = new FakeUpstream(({ path }) => (path.endsWith('brand.css') ? BRAND : PROJECT));
  readonly deadlines: FakeDeadlines = new FakeDeadlines();
  readonly directory: PlatformDirectory;

  constructor(api: Partial<PlatformApi> = {}, limitBytes = Infinity) {
    super();
    this.directory = new PlatformDirectory({
      call: this.callThrough(this.upstream),
      clock: this.clock,
      telemetry: this.telemetry,
      styles: checkedStyles(this.telemetry),
      hash: sha256,
      timeouts: TIMEOUTS,
      lookupMs: 10_000,
      deadline: this.deadlines.start,
      memory: memoryOf(this.clock, limitBytes),
      api: { ...API, projectId: '', ...api },
    });
  }

  async caller(auth: Exclude<RouteAuth, { kind: 'headers' }> = SERVICE): Promise<Caller> {
    return new Caller(auth, REQUEST, await this.broker.obtain(auth, REQUEST));
  }

  async project(auth?: Exclude<RouteAuth, { kind: 'headers' }>) {
    return this.directory.project(await this.caller(auth));
  }

  async brand() {
    return this.directory.brand(await this.caller());
  }
}

const [ADA, BOB] = [user('ada'), user('bob')] as Exclude<RouteAuth, { kind: 'headers' }>[];

describe('the project', () => {
  it('is the configured one, without a call', async () => {
    const world = new DirectoryWorld({ projectId: 'proj-1' });
    expect(await world.project()).toEqual({ value: 'proj-1' });
    expect(world.upstream.requests).toEqual([]);
  });

  it("is otherwise the platform's project for this credential", async () => {
    const world = new DirectoryWorld();
    expect(await world.project()).toEqual({ value: 'proj-9' });
    expect(world.upstream.requests).toMatchObject([
      {
        method: 'GET',
        origin: 'https://platform.example',
        path: '/api/project',
        headers: { authorization: 'Bearer account-token-1', 'x-api-key': 'site-key', accept: 'application/json' },
      },
    ]);
  });

  it('is fetched once a minute, and once for concurrent callers', async () => {
    const world = new DirectoryWorld();
    await Promise.all(Array.from({ length: 50 }, () => world.project()));
    world.clock.advance(59_999);
    await world.project();
    expect(world.upstream.requests).toHaveLength(1);
    world.clock.advance(1);
    await world.project();
    expect(world.upstream.requests).toHaveLength(2);
  });

  it('of one user is not returned to another, nor cached for a user without a subject', async () => {
    const world = new DirectoryWorld();
    world.upstream.willAnswer(({ headers }) => ({
      ...PROJECT,
      body: JSON.stringify({ id: headers['authorization'] }),
    }));
    for (let round = 0; round < 2; round += 1) {
      expect(await world.project(ADA)).toEqual({ value: 'Bearer ada-token' });
      expect(await world.project(BOB)).toEqual({ value: 'Bearer bob-token' });
    }
    expect(world.upstream.requests).toHaveLength(2);
    const nameless = user('eve', '') as typeof SERVICE;
    await world.project(nameless);
    await world.project(nameless);
    expect(world.upstream.requests).toHaveLength(4);
  });

  describe('that is the same for all users', () => {
    const shared = (auth: Exclude<RouteAuth, { kind: 'headers' }>) => ({ ...auth, sharesLookups: 'route 1' });
    const users = Array.from({ length: 1_000 }, (_, index) => shared(user(`user${String(index)}`) as typeof SERVICE));

    it('is fetched once for a thousand users, also when they come together', async () => {
      const world = new DirectoryWorld();
      expect(new Set(await Promise.all(users.slice(0, 500).map((one) => world.project(one))))).toEqual(
        new Set([{ value: 'proj-9' }]),
      );
      for (const one of [...users, shared(user('eve', '') as typeof SERVICE)]) await world.project(one);
      expect(world.upstream.requests).toHaveLength(1);
      world.clock.advance(60_000);
      for (const one of users) await world.project(one);
      expect(world.upstream.requests).toHaveLength(2);
    });

    it('is found for the other users if the platform refuses one, for whom it is not requested again within five seconds', async () => {
      const world = new DirectoryWorld();
      const refused = shared(ADA as typeof SERVICE);
      world.upstream.willAnswer(({ headers }) =>
        headers['authorization'] === 'Bearer ada-token' ? { status: 403, headers: {}, body: null } : PROJECT,
      );
      const all = await Promise.all([world.project(refused), ...users.slice(0, 3).map((one) => world.project(one))]);
      expect(all.map(({ value }) => value)).toEqual([null, 'proj-9', 'proj-9', 'proj-9']);
      const before = world.upstream.requests.length;
      for (let visit = 0; visit < 10; visit += 1) expect((await world.project(refused)).value).toBeNull();
      expect(world.upstream.requests.length - before).toBe(0);
    });

    it('is separate for each route', async () => {
      const world = new DirectoryWorld();
      await world.project(shared(ADA as typeof SERVICE));
      await world.project({ ...shared(BOB as typeof SERVICE), sharesLookups: 'route 2' });
      expect(world.upstream.requests).toHaveLength(2);
    });
  });

  it('of the least recent caller is evicted over the limit', async () => {
    const world = new DirectoryWorld({}, 500);
    await world.project(ADA);
    await world.project(BOB);
    await world.project(ADA);
    expect(world.upstream.requests).toHaveLength(3);
  });

  it.each<[string, HttpResponse]>([
    ['missing', { status: 404, headers: JSON_TYPE, body: '{"id":"x"}' }],
    ['an error', { status: 500, headers: JSON_TYPE, body: '{"id":"x"}' }],
    ['a redirect', { status: 302, headers: {}, body: null }],
    ['rejected with 401', { status: 401, headers: {}, body: null }],
    ['HTML', { status: 200, headers: { 'content-type': 'text/html' }, body: '{"id":"x"}' }],
    ['broken JSON', { status: 200, headers: JSON_TYPE, body: '{"id":' }],
    ['without an id', { status: 200, headers: JSON_TYPE, body: '{}' }],
    ['null', { status: 200, headers: JSON_TYPE, body: 'null' }],
    ['empty', { status: 200, headers: JSON_TYPE, body: '{"id":""}' }],
    ['true', { status: 200, headers: JSON_TYPE, body: '{"id":true}' }],
    ['too long', { status: 200, headers: JSON_TYPE, body: `{"id":"${'x'.repeat(65_536)}"}` }],
  ])('that is %s is null with a warning and fetched again after five seconds', async (_what, answer) => {
    const world = new DirectoryWorld();
    world.upstream.willAnswer(() => answer);
    expect(await world.project()).toEqual({ value: null, warning: 'project_unavailable' });
    expect(world.telemetry.of('warning').filter(({ code }) => code === 'project_unavailable')).toHaveLength(1);
    world.upstream.willAnswer(() => PROJECT);
    world.clock.advance(4_999);
    expect((await world.project()).value).toBeNull();
    world.clock.advance(1);
    expect((await world.project()).value).toBe('proj-9');
  });

  it('is cached for callers up to the limit', async () => {
    const world = new DirectoryWorld({}, 900);
    for (const caller of [ADA, BOB, ADA, BOB]) await world.project(caller);
    expect(world.upstream.requests).toHaveLength(2);
  });

  it('can be a number', async () => {
    const world = new DirectoryWorld();
    world.upstream.willAnswer(() => ({ ...PROJECT, body: '{"id":7}' }));
    expect(await world.project()).toEqual({ value: '7' });
  });

  it('is null with a warning when the platform is down or not configured', async () => {
    const world = new DirectoryWorld();
    world.upstream.willAnswer(() => ({ kind: 'failure', reason: 'unreachable', log: 'ECONNREFUSED 10.0.0.7' }));
    expect(await world.project()).toEqual({ value: null, warning: 'project_unavailable' });
    expect(world.telemetry.of('warning')).toEqual([
      {
        type: 'warning',
        code: 'project_unavailable',
        summary:
          'The platform cannot be reached. If this lasts, check that the platform runs, and "serviceApiUrl" in configureServer.',
        block: 'configureServer',
        fields: ['serviceApiUrl'],
        detail:
          'The platform cannot be reached. If this lasts, check that the platform runs, and "serviceApiUrl" in configureServer. ECONNREFUSED 10.0.0.7',
      },
    ]);
    expect(await new DirectoryWorld({ endpoint: undefined }).project()).toEqual({
      value: null,
      warning: 'project_unavailable',
    });
  });
});

describe('the brand', () => {
  it("is the platform's style sheet unchanged", async () => {
    const world = new DirectoryWorld();
    expect(await world.brand()).toEqual({ value: BRAND.body });
    expect(world.upstream.requests).toMatchObject([{ path: '/api/brand.css', headers: { accept: 'text/css' } }]);
  });

  it.each([
    ['\uFEFF:root{--a:1}', ':root{--a:1}'],
    [':root{--a:"\uFEFF"}', ':root{--a:"\uFEFF"}'],
  ])('has no byte order mark, which would be sent inside a page: %j', async (body, value) => {
    const world = new DirectoryWorld();
    world.upstream.willAnswer(() => ({ ...BRAND, body }));
    expect(await world.brand()).toEqual({ value });
  });

  it('is empty when the platform has none', async () => {
    const world = new DirectoryWorld();
    world.upstream.willAnswer(() => ({ status: 404, headers: {}, body: null }));
    expect(await world.brand()).toEqual({ value: '' });
  });

  it.each<[string, HttpResponse]>([
    ['HTML', { ...BRAND, headers: { 'content-type': 'text/html' } }],
    ['the end of a style element', { ...BRAND, body: 'a{}</style><script>' }],
    ['the end of any element', { ...BRAND, body: 'a{content:"</"}' }],
    ['a control character', { ...BRAND, body: 'a{}\u0000' }],
    ['compressed', { ...BRAND, headers: { ...BRAND.headers, 'content-encoding': 'gzip' } }],
    ['not UTF-8', { ...BRAND, body: Uint8Array.of(0xff) }],
    ['over 1 MiB', { ...BRAND, body: 'x'.repeat(1_048_577) }],
    ['an error', { ...BRAND, status: 500 }],
  ])('that is %s is not returned', async (_what, answer) => {
    const world = new DirectoryWorld();
    world.upstream.willAnswer(() => answer);
    expect(await world.brand()).toEqual({ value: null, warning: 'brand_unavailable' });
  });

  it('is empty and logged when it is too large to check', async () => {
    const world = new DirectoryWorld();
    world.upstream.willAnswer(() => ({ ...BRAND, body: `:root{--a:${'x'.repeat(65_536)}}` }));
    expect(await world.brand()).toEqual({ value: '' });
    const [warning] = world.telemetry.of('warning');
    expect(warning).toMatchObject({ code: 'brand_reduced', fields: ['trustBrandCss'] });
    expect(warning?.detail).toContain('Left out: all of it: more than 65536 characters.');
  });
});

const CHECK_PROJECT =
  'Check "serviceApiUrl" and "upstream.paths.project" in configureServer, or set "serviceProjectId".';

describe('an invalid response', () => {
  const details = ({ telemetry }: DirectoryWorld): unknown[] => telemetry.of('warning').map(({ detail }) => detail);

  it.each<['project' | 'brand', number, string]>([
    ['project', 200, 'text/html'],
    ['project', 404, 'application/json'],
    ['brand', 200, 'text/html'],
    ['brand', 403, 'text/css'],
    ['brand', 404, 'text/html'],
  ])('for the %s (%i, %s) is cancelled to release its connection', async (name, status, type) => {
    const world = new DirectoryWorld();
    const body = new WatchedBody('unread');
    world.upstream.willAnswer(() => ({ status, headers: { 'content-type': type }, body }));
    await world[name]();
    expect(body.ended).toBe(true);
  });

  it.each<[string, 'project' | 'brand', HttpResponse, string]>([
    [
      'an error',
      'project',
      { ...PROJECT, status: 404 },
      `The platform was not found at its address. ${CHECK_PROJECT} status 404 from the platform, application/json: {"id":"proj-9"}`,
    ],
    [
      'JSON without an id',
      'project',
      { ...PROJECT, body: '{"no":1}' },
      `The response of the platform is not JSON with the id of the project. ${CHECK_PROJECT} status 200 from the platform, application/json: {"no":1}`,
    ],
    [
      'null',
      'project',
      { ...PROJECT, body: 'null' },
      `The response of the platform is not JSON with the id of the project. ${CHECK_PROJECT} status 200 from the platform, application/json: null`,
    ],
    [
      'not UTF-8',
      'brand',
      { ...BRAND, body: Uint8Array.of(0xff) },
      'The response of the platform is not a style sheet. Check "serviceApiUrl" and "upstream.paths.brand" in configureServer. status 200 from the platform, text/css: \ufffd',
    ],
    [
      'a web page',
      'brand',
      { ...BRAND, headers: { 'content-type': 'text/html' } },
      `The address of the platform leads to a web page. Check "serviceApiUrl" and "upstream.paths.brand" in configureServer. status 200 from the platform, text/html: ${BRAND.body.trim()}`,
    ],
    [
      'a rejected credential',
      'brand',
      { status: 401, headers: {}, body: 'Bearer account-token-2?' },
      'The platform refused the service credential. Check the "serviceAccount" configuration block: the platform must know this client or key, its audience and its role. status 401 from the platform: Bearer [redacted]?',
    ],
  ])('is logged with advice and its content: %s', async (_what, name, answer, detail) => {
    const world = new DirectoryWorld();
    world.upstream.willAnswer(() => answer);
    await world[name]();
    expect(details(world)).toEqual([detail]);
  });

  it('is logged with what is known only', async () => {
    const world = new DirectoryWorld();
    world.upstream.willAnswer(() => ({ status: 500, headers: {}, body: null }));
    await world.brand();
    const summary = 'The platform reported an internal error.';
    const detail = `${summary} status 500 from the platform, no body`;
    expect(world.telemetry.of('warning')).toStrictEqual([
      { type: 'warning', code: 'brand_unavailable', detail, summary },
    ]);
  });

  it('is not logged when no address is configured, as a site may use only the chat', async () => {
    const world = new DirectoryWorld({ endpoint: undefined });
    expect(await world.project()).toEqual({ value: null, warning: 'project_unavailable' });
    expect(details(world)).toEqual([]);
  });

  it('is logged without its text when the cause is an internal fault', async () => {
    const world = new DirectoryWorld();
    world.upstream.willAnswer(() => {
      throw new TypeError('Bearer account-token-1 is no header');
    });
    expect(await world.project()).toEqual({ value: null, warning: 'project_unavailable' });
    expect(details(world)).toEqual(['the look-up threw']);
  });
});

describe('a look-up by the site itself', () => {
  it('has the same result as one for a visitor', async () => {
    const world = new DirectoryWorld();
    expect(await world.directory.resolve('project', SERVICE, REQUEST)).toEqual({ value: 'proj-9' });
    expect(await world.directory.resolve('brand', SERVICE, REQUEST)).toEqual({ value: BRAND.body });
  });

  it('returns the brand of the configured project', async () => {
    const world = new DirectoryWorld({ projectId: 'proj-1' });
    expect(await world.directory.resolve('brand', SERVICE, REQUEST)).toEqual({ value: BRAND.body });
    expect(world.upstream.requests).toMatchObject([
      { method: 'GET', path: '/api/brand.css', headers: { 'x-project-id': 'proj-1' }, body: null },
    ]);
  });

  it('without a credential returns a configured project, or a warning', async () => {
    const nobody: RouteAuth = { kind: 'service', strategy: 'unknown', apiKey: undefined };
    const world = new DirectoryWorld();
    for (const name of ['project', 'brand'] as const) {
      expect(await world.directory.resolve(name, nobody, REQUEST)).toEqual({
        value: null,
        warning: `${name}_unavailable`,
      });
    }
    for (const { detail, summary } of world.telemetry.of('warning')) expect(detail).toBe(summary);
    const configured = new DirectoryWorld({ projectId: 'proj-1' });
    expect(await configured.directory.resolve('project', nobody, REQUEST)).toEqual({ value: 'proj-1' });
  });
});

describe('a slow platform', () => {
  const silent = (): Promise<never> => new Promise<never>(() => undefined);

  it.each(['project', 'brand'] as const)(
    'leads to a missing %s with a warning, and its request is aborted',
    async (name) => {
      const world = new DirectoryWorld();
      world.upstream.willAnswer(silent);
      const looking = world[name]();
      await expect.poll(() => world.upstream.requests).toHaveLength(1);
      expect(world.deadlines.spans).toEqual([10_000]);
      world.deadlines.pass(10_000);
      expect(await looking).toEqual({ value: null, warning: `${name}_unavailable` });
      expect(world.upstream.requests[0]?.signal.aborted).toBe(true);
      expect(world.telemetry.of('warning').filter(({ code }) => code === `${name}_unavailable`)).toHaveLength(1);
    },
  );

  it('leads to a missing brand when its response never ends', async () => {
    const world = new DirectoryWorld();
    const body = {
      [Symbol.asyncIterator]: () => ({ next: silent }),
    };
    world.upstream.willAnswer(() => ({ ...BRAND, body }));
    const looking = world.brand();
    await expect.poll(() => world.upstream.requests).toHaveLength(1);
    world.deadlines.pass(10_000);
    expect(await looking).toEqual({ value: null, warning: 'brand_unavailable' });
  });
});
