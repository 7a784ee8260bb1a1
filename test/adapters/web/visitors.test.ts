import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../../src/adapters/fakes/fakes.js';
import { readSealingKey } from '../../../src/adapters/keyv/entry-seal.js';
import { visitorCrypto, visitorKeys } from '../../../src/adapters/keyv/visitor-crypto.js';
import { forgetVisitorCookies, type Visit, Visitors } from '../../../src/adapters/web/visitors.js';
import { secret } from '../../../src/domain/shared/secret.js';
import type { HttpRequest } from '../../../src/ports/http.js';

const DAY_MS = 86_400_000;
const KEYS = [
  '00112233445566778899aabbccddeeff0123456789abcdeffedcba9876543210',
  'f0e1d2c3b4a5968778695a4b3c2d1e0f0f1e2d3c4b5a69788796a5b4c3d2e1f0',
].map((text) => {
  const reading = readSealingKey(secret(text));
  if (reading.kind !== 'key') throw new Error(reading.advice);
  return visitorKeys(reading.key);
});

/** A site whose users say who they are; with `knowsUsers: false`, a route of it that does not ask. */
class World {
  readonly clock: FakeClock = new FakeClock();
  user: string | undefined;
  readonly #visitors: Visitors;

  constructor(keys = KEYS, publicUrl = '', knowsUsers = true) {
    const user = () => Promise.resolve(this.user === undefined ? undefined : { name: this.user, key: this.user });
    this.#visitors = new Visitors({
      crypto: visitorCrypto,
      clock: this.clock,
      keys,
      user: knowsUsers ? user : undefined,
      maxAgeS: 30 * 86_400,
      publicUrl,
    });
  }

  async visit(
    cookie: string | readonly string[],
    headers: Readonly<Record<string, string>> = {},
    publicUrl = 'http://site.example/api/a2a',
  ): Promise<Visit> {
    const fields = { ...(cookie === '' ? {} : { cookie }), ...headers };
    return this.#visitors.of({ headers: fields, publicUrl } as unknown as HttpRequest);
  }
}

const pair = ({ cookie = '' }: Visit): string => cookie.split(';', 1)[0] ?? '';
const secretOf = ({ keys }: Visit): string => String(keys.find(({ kind }) => kind === 'cookie')?.key ?? '');

describe('a visitor', () => {
  it('without a cookie gets one of 128 random bits, and is known by it', async () => {
    const world = new World();
    const first = await world.visit('');
    expect(first.keys).toHaveLength(1);
    expect(Buffer.from(secretOf(first), 'base64url')).toHaveLength(16);
    const again = await world.visit(`a=b; ${pair(first)}; c=d`);
    expect([secretOf(again), again.cookie]).toEqual([secretOf(first), undefined]);
    expect(secretOf(await world.visit(''))).not.toBe(secretOf(first));
  });

  it('keeps the secret when the cookie is renewed, after half of its life', async () => {
    const world = new World();
    const first = await world.visit('');
    world.clock.advance(15 * DAY_MS);
    expect((await world.visit(pair(first))).cookie).toBeUndefined();
    world.clock.advance(1_000);
    const renewed = await world.visit(pair(first));
    expect([secretOf(renewed), renewed.cookie]).toEqual([secretOf(first), expect.stringContaining('Max-Age=2592000')]);
  });

  it('is renewed by a clock behind the one that wrote the cookie, as by one ahead of it', async () => {
    const world = new World();
    world.clock.advance(15 * DAY_MS + 1_000);
    const ahead = await world.visit('');
    const behind = await new World().visit(pair(ahead));
    expect([secretOf(behind), behind.cookie]).toEqual([secretOf(ahead), expect.stringContaining('Max-Age=2592000')]);
  });

  it('is known by a cookie in a field of its own, as HTTP/2 sends it', async () => {
    const world = new World();
    const first = await world.visit('');
    expect(secretOf(await world.visit(['a=b', pair(first), 'c=d']))).toBe(secretOf(first));
  });

  it.each([
    ['a page of another site', { 'sec-fetch-site': 'cross-site', origin: 'https://shop.example' }],
    ['a page of another site over http', { 'sec-fetch-site': 'cross-site', origin: 'http://127.0.0.1:5173' }],
    [
      "the site's own page in a frame of another site",
      { 'sec-fetch-site': 'same-origin', 'sec-fetch-storage-access': 'none' },
    ],
  ])('in %s gets a cookie that the browser keeps for it, and is known by no other', async (_what, headers) => {
    const world = new World();
    const first = await world.visit('', headers);
    expect(first.cookie).toMatch(/^__Host-agent-bff-visitor-user=.*; HttpOnly; Secure; SameSite=None; Partitioned$/);
    expect(secretOf(await world.visit(pair(first), headers))).toBe(secretOf(first));
    const plain = pair(await new World().visit(''));
    expect(secretOf(await world.visit(plain, headers))).not.toBe(secretOf(await world.visit(plain)));
  });

  it('who signs in stays known at a route that does not know users, and the other way round', async () => {
    const [users, open] = [new World(), new World(KEYS, '', false)];
    const [there, here] = [await users.visit(''), await open.visit('')];
    users.user = 'ada';
    const signedIn = await users.visit(`${pair(there)}; ${pair(here)}`);
    const cookies = `${pair(signedIn)}; ${pair(here)}`;
    expect(await open.visit(cookies)).toMatchObject({ keys: here.keys, cookie: undefined });
    expect([secretOf(await users.visit(cookies)), secretOf(here)]).toEqual([secretOf(there), secretOf(here)]);
    expect(secretOf(here)).not.toBe(secretOf(there));
  });

  it.each([
    ['a cookie of another length', (value: string) => value.replace('=', '=A')],
    ['bits after the secret', (value: string) => value.replace(/[\w-]\./, 'B.')],
    ['quotes', (value: string) => value.replace(/=(.*)/, '="$1"')],
    ['the same cookie twice', (value: string) => `${value}; ${value}`],
    ['another cookie of the same name', (value: string) => `agent-bff-visitor-user=x; ${value}`],
    ['a name in capitals', (value: string) => value.replace('agent', 'Agent')],
    ['no time', (value: string) => value.replace(/\.\w+$/, '')],
  ])('with %s is new', async (_what, change) => {
    const world = new World();
    const first = await world.visit('');
    const changed = await world.visit(change(pair(first)));
    expect([secretOf(changed) === secretOf(first), changed.cookie]).toEqual([false, expect.any(String)]);
  });

  it.each([
    ['its name as a value', 'theme=agent-bff-visitor-user'],
    ['a name that ends like it', 'xagent-bff-visitor-user=1'],
    ['a name that begins like it', 'agent-bff-visitor-user2=1'],
    ['the name of routes without users', 'agent-bff-visitor=1; agent-bff-visitor=2'],
    ['its name without a value', 'agent-bff-visitor-user-off'],
  ])('is recognized despite another cookie with %s', async (_what, other) => {
    const world = new World();
    const first = await world.visit('');
    for (const cookies of [
      `${other}; ${pair(first)}`,
      `${pair(first)};${other}`,
      `a=b; ${pair(first)} ; ${other}; c`,
    ]) {
      expect(secretOf(await world.visit(cookies))).toBe(secretOf(first));
    }
  });

  it('who uses https is not known by a cookie that another host could have set', async () => {
    const world = new World();
    const injected = pair(await world.visit(''));
    for (const [headers, address] of [
      [{ origin: 'https://site.example' }, 'http://site.example/api/a2a'],
      [{}, 'https://site.example/api/a2a'],
    ] as const) {
      const visit = await world.visit(injected, headers, address);
      expect([secretOf(visit) === secretOf(await world.visit(injected)), visit.cookie]).toEqual([
        false,
        expect.stringMatching(/^__Host-/),
      ]);
      const safe = await world.visit(`${injected}; ${pair(visit)}`, headers, address);
      expect([secretOf(safe), safe.cookie]).toEqual([secretOf(visit), undefined]);
    }
  });

  it.each([
    ['http://127.0.0.1:5173', 'agent-bff-visitor-user='],
    ['http://https:5173', 'agent-bff-visitor-user='],
    ['null', '__Host-agent-bff-visitor-user='],
  ])('on a page of %s gets a cookie that the browser accepts there: %s', async (origin, name) => {
    const { cookie } = await new World(KEYS, 'https://site.example').visit('', { origin });
    expect(cookie?.startsWith(name)).toBe(true);
  });

  it.each(['\u00A0', '\uFEFF', '\u2003', '\u0085', '\v'])(
    'is not known by a cookie with %j before its name, which browsers do not protect',
    async (blank) => {
      const [world, headers] = [new World(), { origin: 'https://site.example' }];
      const first = await world.visit('', headers);
      expect(secretOf(await world.visit(`a=b;\t ${pair(first)} `, headers))).toBe(secretOf(first));
      expect(secretOf(await world.visit(`a=b; ${blank}${pair(first)}`, headers))).not.toBe(secretOf(first));
    },
  );

  it('who signs in keeps the secret, sealed to the user', async () => {
    const world = new World();
    const before = await world.visit('');
    world.user = 'ada';
    const signedIn = await world.visit(pair(before));
    expect(signedIn.keys.map(({ kind, user }) => [kind, user])).toEqual([
      ['user', 'ada'],
      ['user', 'ada'],
      ['cookie', ''],
    ]);
    expect([secretOf(signedIn), pair(signedIn)]).toEqual([
      secretOf(before),
      expect.stringMatching(/=s\.[\w-]{67}\.\w+$/),
    ]);
    const later = await world.visit(pair(signedIn));
    expect([secretOf(later), later.cookie]).toEqual([secretOf(before), undefined]);
    for (const user of [undefined, 'bob', 'ad', 'adaa']) {
      world.user = user;
      expect(secretOf(await world.visit(pair(signedIn)))).not.toBe(secretOf(before));
    }
  });

  it('who is signed in and has no cookie needs none', async () => {
    const world = new World();
    world.user = 'ada';
    expect(await world.visit('')).toMatchObject({
      user: { name: 'ada', key: 'ada' },
      cookie: undefined,
      keys: [{ kind: 'user' }, { kind: 'user' }],
    });
  });

  it('stays known while keys are rotated, until the old one is removed', async () => {
    const [old, fresh] = KEYS as [(typeof KEYS)[number], (typeof KEYS)[number]];
    const sealedBy = async (keys: typeof KEYS, cookie: string): Promise<Visit> => {
      const world = new World(keys);
      world.user = 'ada';
      return world.visit(cookie);
    };
    const anonymous = await new World().visit('');
    const signedIn = await sealedBy([old], pair(anonymous));
    for (const keys of [
      [old, fresh],
      [fresh, old],
    ]) {
      expect(secretOf(await sealedBy(keys, pair(signedIn)))).toBe(secretOf(anonymous));
    }
    expect(secretOf(await sealedBy([fresh], pair(signedIn)))).toBe('');
  });
});

it('the keys of users reveal neither the key they come from nor each other', () => {
  const all = KEYS.flatMap(({ mint, seal }) => [mint, seal]).map((key) => Buffer.from(key).toString('hex'));
  expect(new Set(all).size).toBe(4);
  for (const key of all) expect(key).toMatch(/^[0-9a-f]{64}$/);
});

it('forgets a visitor with one cookie of every form', () => {
  expect(forgetVisitorCookies()).toEqual([
    'agent-bff-visitor=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax',
    '__Host-agent-bff-visitor=; Path=/; Max-Age=0; HttpOnly; Secure; SameSite=Lax',
    '__Host-agent-bff-visitor=; Path=/; Max-Age=0; HttpOnly; Secure; SameSite=None; Partitioned',
    'agent-bff-visitor-user=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax',
    '__Host-agent-bff-visitor-user=; Path=/; Max-Age=0; HttpOnly; Secure; SameSite=Lax',
    '__Host-agent-bff-visitor-user=; Path=/; Max-Age=0; HttpOnly; Secure; SameSite=None; Partitioned',
  ]);
});
