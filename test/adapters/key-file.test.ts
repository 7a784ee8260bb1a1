import { generateKeyPairSync } from 'node:crypto';
import { chmod, rename, rm, stat, truncate, utimes, writeFile } from 'node:fs/promises';
import { devNull } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { generateKeyPair, type GeneratedKeyPair } from '../../src/adapters/keys/pem.js';
import { fileAdvice } from '../../src/adapters/keys/advice.js';
import { keyFile, keyText, type PrivateKeyReading } from '../../src/adapters/keys/private-key.js';
import type { WatchedReading } from '../../src/adapters/keys/watched-file.js';
import { privateKeySourceContract } from '../contracts/private-key-source.contract.js';
import { asNobody } from '../support/as-nobody.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const SECOND = 1_000;
const MINUTE = 60_000;
const block = 'serviceAccount';
const clock = { time: 1_800_000_000_000, now: () => clock.time };

let folder: string;
let path: string;
let first: GeneratedKeyPair;
let second: GeneratedKeyPair;
let files = 0;

beforeAll(async () => {
  folder = temporaryFolder('key-file');
  [first, second] = await Promise.all([generateKeyPair(), generateKeyPair()]);
});
beforeEach(() => {
  path = join(folder, `key-${(files += 1)}.pem`);
});

// Padded, so that a file can change its key and keep its size.
function textOf(pair: GeneratedKeyPair): string {
  return pair.privateKeyPem.reveal().padEnd(2_000, '\n');
}

async function put(text: string, mtime = 1_000_000, place = path): Promise<void> {
  await writeFile(place, text);
  await utimes(place, mtime, mtime);
}

function fingerprintOf(pair: GeneratedKeyPair): string {
  return keyIn(keyText(textOf(pair), block).read());
}

function keyIn(reading: PrivateKeyReading): string {
  if (reading.kind !== 'key') throw new Error(`unusable: ${reading.log}`);
  return reading.fingerprint;
}

async function sourceWithFirstKey(): Promise<WatchedReading<PrivateKeyReading>> {
  await put(textOf(first));
  const source = keyFile(path, block, clock);
  expect(keyIn(source.read())).toBe(fingerprintOf(first));
  return source;
}

privateKeySourceContract('keyFile', async () => {
  const at = (name: string): string => join(folder, name);
  const source = (place: string) => keyFile(place, block, clock);
  await writeFile(at('contract.pem'), textOf(first));
  await writeFile(at('other.pem'), textOf(second));
  await writeFile(at('half.pem'), textOf(first).slice(0, 900));
  return {
    usable: source(at('contract.pem')),
    other: source(at('other.pem')),
    publicKeyPem: first.publicKeyPem,
    unusable: {
      absent: source(at('absent.pem')),
      'a folder': source(folder),
      half: source(at('half.pem')),
      'a key in place of a path': source(textOf(first)),
      'a key without labels in place of a path': source(textOf(first).replace(/-----[^-]+-----|\n/g, '')),
    },
    field: 'privateKeyPath',
    secrets: [textOf(first).slice(100, 150), textOf(second).slice(100, 150)],
    internal: [folder, 'ENOENT', 'EISDIR'],
  };
});

describe('a key file that was never valid', () => {
  it('is used once it appears', async () => {
    const source = keyFile(path, block, clock);
    expect(source.read()).toMatchObject({ kind: 'unusable' });
    await writeFile(path, textOf(first));
    clock.time += 30_000;
    expect(source.read()).toMatchObject({ kind: 'key' });
  });

  it('names its path in the log and only the field in the advice', () => {
    expect(keyFile(path, block, clock).read()).toEqual({
      kind: 'unusable',
      reason: 'refused',
      fields: ['privateKeyPath'],
      advice: 'Point "privateKeyPath" in the "serviceAccount" configuration block at a file that exists.',
      log: `privateKeyPath: ENOENT: ${path}`,
    });
  });

  const written = async (text: string): Promise<string> => {
    await writeFile(path, text);
    return path;
  };

  it.each<[string, () => Promise<string> | string, RegExp, RegExp]>([
    ['is a folder', () => folder, /a directory or a device\.$/, /: EISDIR: /],
    ['is a device', () => devNull, /a directory or a device\.$/, /./],
    [
      'is too large for a key',
      () => written(textOf(first).padEnd(65_537, '\n')),
      /too large for a key\.$/,
      /: EFBIG: /,
    ],
    ['holds a placeholder', () => written('<PRIVATE_KEY>'), /it holds a placeholder\.$/, /: holds a placeholder: /],
    ['holds a path', () => written('/etc/keys/site.pem'), /it holds no key\.$/, /: holds no key: /],
    [
      'holds something else',
      () => written('bm9uZQ=='),
      /a damaged or incomplete key\.$/,
      /: holds a damaged or incomplete key ERR_\w+: /,
    ],
  ])('is rejected when it %s', async (_what, place, advice, detail) => {
    expect(keyFile(await place(), block, clock).read()).toMatchObject({
      advice: expect.stringMatching(advice),
      log: expect.stringMatching(detail),
    });
  });

  it('points a key given as its path to the right field', () => {
    expect(keyFile(textOf(first), block, clock).read()).toMatchObject({
      fields: ['privateKeyPath'],
      advice: expect.stringMatching(/^Move the key to "privateKeyPem"/),
      log: 'privateKeyPath: the value is a PEM text: a value that is not a path',
    });
  });

  it('is not quoted in the log when a short key is given as its path', () => {
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const text = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
    expect(inspect(keyFile(text, block, clock).read())).not.toContain(text.slice(30, 60));
  });

  it('is rejected when the server may not read it', async () => {
    await writeFile(path, textOf(first));
    await chmod(path, 0);
    expect(await asNobody(async () => keyFile(path, block, clock).read())).toMatchObject({
      advice: 'Make the file of "privateKeyPath" in the "serviceAccount" configuration block readable for the server.',
      log: `privateKeyPath: EACCES: ${path}`,
    });
  });
});

describe.each([
  ['certificatePath', 'certificate'],
  ['privateKeyPath', 'key'],
] as const)('a file of %s that cannot be read', (field, thing) => {
  it.each([
    ['ENOTDIR', /^Point .* at a file that exists\.$/],
    ['EACCES', /^Make the file of /],
    ['EPERM', /^Make the file of /],
    ['EFBIG', new RegExp(`at a ${thing} file: it names a file that is too large for a ${thing}\\.$`)],
    ['EIO', /^Check the file of .*: it cannot be read\.$/],
  ])('has advice for the code %s', (code, advice) => {
    expect(fileAdvice(field, block, code)).toMatch(advice);
    expect(fileAdvice(field, block, code)).toContain(`"${field}" in the "serviceAccount" configuration block`);
  });
});

describe('a key file that changed', () => {
  it('is read again after 30 seconds', async () => {
    const source = await sourceWithFirstKey();
    await put(textOf(second), 2_000_000);

    clock.time += 30 * SECOND - 1;
    expect(keyIn(source.read())).toBe(fingerprintOf(first));
    clock.time += 1;
    expect(keyIn(source.read())).toBe(fingerprintOf(second));
  });

  it('is read again at once after recheck()', async () => {
    const source = await sourceWithFirstKey();
    await put(textOf(second), 2_000_000);

    source.recheck();
    expect(keyIn(source.read())).toBe(fingerprintOf(second));
    await put(textOf(first), 3_000_000);
    expect(keyIn(source.read()), 'asking counts once').toBe(fingerprintOf(second));
  });

  it('is seen after the machine clock was set back', async () => {
    const source = await sourceWithFirstKey();
    await put(textOf(second), 2_000_000);
    clock.time -= 60 * MINUTE;

    expect(keyIn(source.read())).toBe(fingerprintOf(second));
  });

  it.each<[string, () => Promise<void>]>([
    ['its time', () => put(textOf(second), 1_000_001)],
    ['its size', () => put(`${textOf(second)}\n`)],
    [
      'another file in its place',
      async () => {
        await put(textOf(second), 1_000_000, `${path}.new`);
        await rename(`${path}.new`, path);
      },
    ],
  ])('is noticed by %s alone', async (_how, change) => {
    const source = await sourceWithFirstKey();
    await change();
    source.recheck();
    expect(keyIn(source.read())).toBe(fingerprintOf(second));
  });

  it('is not read when time, size and identity are unchanged', async () => {
    const source = await sourceWithFirstKey();
    const { ino } = await stat(path);
    await put(textOf(second));
    expect((await stat(path)).ino, 'written in place').toBe(ino);
    source.recheck();
    expect(keyIn(source.read())).toBe(fingerprintOf(first));
  });
});

describe('a key file that breaks after a successful read', () => {
  it.each([
    ['half-written', () => put(textOf(second).slice(0, 900), 2_000_000)],
    ['emptied', () => truncate(path)],
    ['removed', () => rm(path)],
  ])('and is %s keeps its last key for five minutes', async (_how, harm) => {
    const source = await sourceWithFirstKey();
    await harm();

    for (const wait of [30 * SECOND, 4 * MINUTE, MINUTE - 1]) {
      clock.time += wait;
      expect(keyIn(source.read())).toBe(fingerprintOf(first));
    }
    clock.time += 1;
    expect(source.read()).toMatchObject({ kind: 'unusable', fields: ['privateKeyPath'] });
    clock.time -= MINUTE;
    expect(source.read(), 'out of use for good').toMatchObject({ kind: 'unusable' });
  });

  it('returns the new key once it is complete', async () => {
    const source = await sourceWithFirstKey();
    await put(textOf(second).slice(0, 900), 2_000_000);
    source.recheck();
    source.read();
    await put(textOf(second), 2_000_000);
    source.recheck();

    expect(keyIn(source.read())).toBe(fingerprintOf(second));
  });

  it('has five minutes again after each repair', async () => {
    const source = await sourceWithFirstKey();
    for (let repair = 0; repair < 3; repair += 1) {
      await rm(path);
      clock.time += 4 * MINUTE;
      expect(keyIn(source.read())).toBe(fingerprintOf(first));
      clock.time += 4 * MINUTE;
      await put(textOf(first));
      expect(keyIn(source.read())).toBe(fingerprintOf(first));
    }
  });
});
