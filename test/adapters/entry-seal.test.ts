import { createHash, randomBytes } from 'node:crypto';
import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { FakeClock, RecordingTelemetry } from '../../src/adapters/fakes/fakes.js';
import { CLEAR, EntryStore, readSealingKey, sealedBy, type SealingKey } from '../../src/adapters/keyv/entry-seal.js';
import { visitorKeys } from '../../src/adapters/keyv/visitor-crypto.js';
import { secret } from '../../src/domain/shared/secret.js';
import type { CacheStore } from '../../src/ports/cache-store.js';
import { cacheStoreContract } from '../contracts/cache-store.contract.js';

const TOKEN = 'eyJhbGciOiJSUzI1NiJ9.payload.signature';

/** A store whose entries its operator can read. */
class OpenStore implements CacheStore {
  readonly entries = new Map<string, string>();
  readonly get = (key: string): Promise<string | undefined> => Promise.resolve(this.entries.get(key));
  readonly set = (key: string, value: string): Promise<void> => Promise.resolve(void this.entries.set(key, value));
  readonly delete = (key: string): Promise<void> => Promise.resolve(void this.entries.delete(key));

  get only(): readonly [key: string, value: string] {
    const [entry, ...rest] = this.entries;
    if (entry === undefined || rest.length > 0) throw new Error(`${String(this.entries.size)} entries`);
    return entry;
  }
}

function newKey(): SealingKey {
  const reading = readSealingKey(secret(randomBytes(32).toString('hex')));
  if (reading.kind !== 'key') throw new Error(reading.advice);
  return reading.key;
}

class World {
  readonly clock = new FakeClock();
  readonly telemetry = new RecordingTelemetry();
  readonly open = new OpenStore();
  readonly key = newKey();
  readonly store = this.sealedBy(this.key);

  sealedBy(first: SealingKey, ...others: SealingKey[]): EntryStore {
    return this.inForm(sealedBy([first, ...others]));
  }

  inForm(form: typeof CLEAR): EntryStore {
    const { clock, telemetry, open } = this;
    return new EntryStore({ store: open, clock, telemetry, form, prefix: 'site:' });
  }

  keep(key: string, value: string = TOKEN): Promise<void> {
    return this.store.set(key, value, this.clock.now() + 60_000);
  }

  get faults(): readonly unknown[] {
    return this.telemetry.of('cache_fault').map(({ operation }) => operation);
  }

  get details(): readonly unknown[] {
    return this.telemetry.of('cache_fault').map(({ detail }) => detail);
  }
}

cacheStoreContract('sealed entries', () => {
  const { store, clock } = new World();
  return { store, now: () => clock.now(), pass: (ms) => clock.advance(ms) };
});

cacheStoreContract('entries in the clear', () => {
  const world = new World();
  const { clock } = world;
  return { store: world.inForm(CLEAR), now: () => clock.now(), pass: (ms) => clock.advance(ms) };
});

describe('a reader of the shared store', () => {
  it('finds neither the token nor its purpose', async () => {
    const { open, ...world } = new World();
    const { store, clock } = world;
    await store.set('["token","anna"]', TOKEN, clock.now() + 60_000);
    const text = JSON.stringify(open.only);
    for (const part of [TOKEN, 'anna', 'signature', Buffer.from(TOKEN).toString('base64url').slice(0, 40)]) {
      expect(text).not.toContain(part);
    }
  });

  it('finds keys made of the site prefix and a SHA-256', async () => {
    const world = new World();
    await world.keep('["token","anna"]');
    expect(world.open.only[0]).toBe(`site:${createHash('sha256').update('["token","anna"]').digest('hex')}`);
  });

  it('cannot tell that an entry is the same as before', async () => {
    const world = new World();
    await world.keep('token');
    const [, before] = world.open.only;
    await world.keep('token');
    expect(world.open.only[1]).not.toBe(before);
  });
});

describe('a writer to the shared store', () => {
  it('cannot move an entry to another key', async () => {
    const world = new World();
    await world.keep('anna', 'token of anna');
    const [, sealed] = world.open.only;
    await world.keep('bert', 'token of bert');
    const bert = [...world.open.entries.keys()][1] ?? '';
    world.open.entries.set(bert, sealed);
    expect(await world.store.get('bert')).toBeUndefined();
    expect(world.faults).toEqual(['open']);
  });

  it('cannot change a bit', async () => {
    const world = new World();
    await world.keep('token');
    const [key, sealed] = world.open.only;
    const body = sealed.lastIndexOf(' ') + 1;
    const bytes = Buffer.from(sealed.slice(body), 'base64url');
    for (let bit = 0; bit < bytes.length * 8; bit += 1) {
      const changed = Buffer.from(bytes);
      changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      world.open.entries.set(key, sealed.slice(0, body) + changed.toString('base64url'));
      expect(await world.store.get('token')).toBeUndefined();
    }
    expect(world.faults).toHaveLength(bytes.length * 8);
  });

  it('cannot shorten an entry', async () => {
    const world = new World();
    await world.keep('token');
    const [key, sealed] = world.open.only;
    for (let length = 0; length < sealed.length; length += 1) {
      world.open.entries.set(key, sealed.slice(0, length));
      expect(await world.store.get('token')).toBeUndefined();
    }
    expect(world.faults).toHaveLength(sealed.length);
  });

  it('cannot change the version of an entry', async () => {
    const world = new World();
    await world.keep('token');
    const [key, sealed] = world.open.only;
    world.open.entries.set(key, sealed.replace('v2 ', 'v1 '));
    expect(await world.store.get('token')).toBeUndefined();
    expect(world.faults).toEqual(['open']);
  });

  it('cannot extend the life of an entry', async () => {
    const world = new World();
    await world.keep('token');
    world.clock.advance(60_000);
    expect(world.open.entries.size).toBe(1);
    expect(await world.store.get('token')).toBeUndefined();
    expect(world.faults).toEqual([]);
    const [key, sealed] = world.open.only;
    const [version, id, expiresAt, text] = sealed.split(' ');
    world.open.entries.set(key, [version, id, String(Number(expiresAt) + 60_000), text].join(' '));
    expect(await world.store.get('token')).toBeUndefined();
    expect(world.faults).toEqual(['open']);
  });

  it.each(['', 'garbage', '  ', 'v2  ', 'v2 x 1 y', '{"value":1}'])('causes a miss with %j', async (garbage) => {
    const world = new World();
    await world.keep('token');
    world.open.entries.set(world.open.only[0], garbage);
    expect(await world.store.get('token')).toBeUndefined();
    expect(world.faults).toEqual(['open']);
  });
});

describe('an entry in the clear', () => {
  it('is a miss under the name of another, whose name may begin with its own', async () => {
    const world = new World();
    const store = world.inForm(CLEAR);
    const names = ['anna', 'bert', 'bertha'];
    for (const name of names) await store.set(name, `render of ${name}`, world.clock.now() + 60_000);
    const keys = [...world.open.entries.keys()];
    for (const [from, to] of [
      [1, 0],
      [2, 1],
    ] as const) {
      world.open.entries.set(String(keys[to]), String(world.open.entries.get(String(keys[from]))));
      expect(await store.get(String(names[to]))).toBeUndefined();
    }
    expect(world.details).toEqual(Array(2).fill('the entry is not the one that was set'));
  });

  it.each(['garbage', '', '12', '12 3', '99999999999999 5 toke'])('is a miss if it is %j', async (garbage) => {
    const world = new World();
    const store = world.inForm(CLEAR);
    await store.set('token', 'value', world.clock.now() + 60_000);
    world.open.entries.set(world.open.only[0], garbage);
    expect(await store.get('token')).toBeUndefined();
    expect(world.faults).toEqual(['open']);
  });
});

describe('rotated sealing keys', () => {
  it('seal with the first, and open entries of any of them', async () => {
    const world = new World();
    await world.keep('token');
    const next = newKey();
    const [later, earlier] = [world.sealedBy(next, world.key), world.sealedBy(world.key, next)];
    expect(await later.get('token')).toBe(TOKEN);
    await later.set('token', 'again', world.clock.now() + 60_000);
    for (const store of [later, earlier, world.sealedBy(next)]) expect(await store.get('token')).toBe('again');
    expect(await world.store.get('token')).toBeUndefined();
  });

  it('never open a changed entry to another text', async () => {
    const world = new World();
    const rotated = world.sealedBy(newKey(), world.key);
    await rotated.set('token', TOKEN, world.clock.now() + 60_000);
    const [key, text] = world.open.only;
    for (const index of Array.from({ length: text.length }).keys()) {
      await world.open.set(key, `${text.slice(0, index)}${text[index] === 'A' ? 'B' : 'A'}${text.slice(index + 1)}`);
      // A holder of the other key cannot open an entry sealed with one key.
      const found = new Set([await rotated.get('token'), await world.sealedBy(world.key).get('token')]);
      found.delete(TOKEN);
      found.delete(undefined);
      expect([...found], String(index)).toEqual([]);
    }
  });

  it('miss entries of a removed key, with a fault in the log', async () => {
    const world = new World();
    await world.keep('token');
    expect(await world.sealedBy(newKey()).get('token')).toBeUndefined();
    expect(world.details).toEqual([expect.stringContaining('no configured key')]);
  });

  it('do not open an entry of another key with the same id', async () => {
    const world = new World();
    await world.keep('token');
    expect(await world.sealedBy({ ...newKey(), id: world.key.id }).get('token')).toBeUndefined();
    expect(world.details).toEqual([expect.stringContaining('another key')]);
  });
});

describe('a sealing key', () => {
  // In base64 it has a "+" and a "/".
  const bytes = Buffer.concat([Buffer.of(0xfb, 0xef, 0xff), randomBytes(29)]);
  const forms = {
    hex: bytes.toString('hex'),
    'upper-case hex': bytes.toString('hex').toUpperCase(),
    base64url: bytes.toString('base64url'),
    base64: bytes.toString('base64'),
    'base64 with a line end': `${bytes.toString('base64')}\n`,
  };

  it.each(Object.entries(forms))('can be written in %s', (_form, text) => {
    const reading = readSealingKey(secret(text));
    expect(reading.kind === 'key' && reading.key.key.export()).toEqual(bytes);
  });

  const refused = {
    nothing: '',
    'a passphrase': 'correct horse battery staple',
    'a passphrase of 32 letters': 'correct-horse-battery-staple-1234',
    'a passphrase of 43 letters with spaces': 'correct horse battery staple and one or two',
    '16 bytes': bytes.subarray(16).toString('hex'),
    '33 bytes': Buffer.concat([bytes, Buffer.of(1)]).toString('base64url'),
    zeros: '0'.repeat(64),
    'a repeated pattern': 'deadbeef'.repeat(8),
    'one letter': 'A'.repeat(43),
    'base64 with words in it':
      `${bytes.toString('base64url').slice(0, 20)} - !${bytes.toString('base64url').slice(20)}`.replace('-', ''),
    '65 hex digits': `${bytes.toString('hex')}0`,
    'hex with a slip': `${bytes.toString('hex').slice(1)}g`,
  };

  it.each(Object.entries(refused))('cannot be %s, and is not quoted', (_name, text) => {
    const reading = readSealingKey(secret(text));
    expect(reading).toMatchObject({
      kind: 'unusable',
      advice: expect.stringMatching(/^A key in "cacheKeys" is .*openssl rand -base64 32"\.$/) as string,
    });
    if (text !== '') expect(JSON.stringify(reading)).not.toContain(text);
  });

  it('has an id of its own', () => {
    expect(newKey().id).toMatch(/^[\w-]{8}$/);
    expect(newKey().id).not.toBe(newKey().id);
  });

  it('has the same id, and derives the same keys for visitors, in every version', () => {
    const reading = readSealingKey(secret('00112233445566778899aabbccddeeff0123456789abcdeffedcba9876543210'));
    if (reading.kind !== 'key') throw new Error(reading.advice);
    const { mint, seal } = visitorKeys(reading.key);
    const derived = [mint, seal].map((key) => Buffer.from(key).toString('base64url').slice(0, 8));
    expect([reading.key.id, ...derived]).toEqual(['RVHzx4sy', '5w2Vzyga', 'Y5KZ8XIn']);
  });

  it('never appears in a print of a key or a store', () => {
    const { store, key } = new World();
    const hex = key.key.export().toString('hex');
    const prints = [store, key].map((value) => inspect(value, { depth: 12, showHidden: true }) + JSON.stringify(value));
    expect(prints.join('').replaceAll(/\W/g, '').toLowerCase()).not.toContain(hex);
    expect(prints.join('')).not.toContain(key.key.export().toString('base64url'));
  });
});
