import { generateKeyPairSync } from 'node:crypto';
import { chmod, writeFile } from 'node:fs/promises';
import { devNull } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { generateKeyPair, type GeneratedKeyPair } from '../../src/adapters/keys/generate-key-pair.js';
import { fileAdvice } from '../../src/adapters/keys/advice.js';
import { KeyFile } from '../../src/adapters/keys/private-key.js';
import { privateKeySourceContract } from '../contracts/private-key-source.contract.js';
import { asNobody } from '../support/as-nobody.js';
import { temporaryFolder } from '../support/temporary-folder.js';

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

function textOf(pair: GeneratedKeyPair): string {
  return pair.privateKeyPem.reveal();
}

privateKeySourceContract('KeyFile', async () => {
  const at = (name: string): string => join(folder, name);
  const source = (place: string): KeyFile => new KeyFile({ path: place, block, clock });
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

describe('a key file that was never good', () => {
  it('is used once it appears', async () => {
    const source = new KeyFile({ path, block, clock });
    expect(await source.read()).toMatchObject({ kind: 'unusable' });
    await writeFile(path, textOf(first));
    clock.time += 30_000;
    expect(await source.read()).toMatchObject({ kind: 'key' });
  });

  it('tells the log its path, and the reader only the field', async () => {
    expect(await new KeyFile({ path, block, clock }).read()).toEqual({
      kind: 'unusable',
      field: 'privateKeyPath',
      advice: 'Point "privateKeyPath" in the "serviceAccount" configuration block at a file that exists.',
      detail: `privateKeyPath: ENOENT: ${path}`,
    });
  });

  it('is refused when it is a folder', async () => {
    expect(await new KeyFile({ path: folder, block, clock }).read()).toMatchObject({
      advice: expect.stringContaining('a directory or a device'),
      detail: `privateKeyPath: EISDIR: ${folder}`,
    });
  });

  it('is refused when it is a device', async () => {
    expect(await new KeyFile({ path: devNull, block, clock }).read()).toMatchObject({
      advice: expect.stringContaining('a directory or a device'),
    });
  });

  it('is refused unread when it is too large for a key', async () => {
    await writeFile(path, textOf(first).padEnd(65_537, '\n'));
    expect(await new KeyFile({ path, block, clock }).read()).toMatchObject({
      advice: expect.stringContaining('too large for a key'),
      detail: `privateKeyPath: EFBIG: ${path}`,
    });
  });

  it('is refused with the reason when it holds no usable key', async () => {
    await writeFile(path, '<PRIVATE_KEY>');
    expect(await new KeyFile({ path, block: 'idpBService', clock }).read()).toMatchObject({
      advice: expect.stringMatching(/the file of "privateKeyPath" in the "idpBService" .*: it holds a placeholder\.$/),
      detail: `privateKeyPath: placeholder: ${path}`,
    });
  });

  it('sends a key that stands in place of its path to the right field', async () => {
    expect(await new KeyFile({ path: textOf(first), block, clock }).read()).toMatchObject({
      field: 'privateKeyPath',
      advice: expect.stringMatching(/^Move the key to "privateKeyPem"/),
      detail: 'privateKeyPath: the value is a PEM text: a value that is no path',
    });
  });

  it('is not quoted in the log when a short key stands in place of its path', async () => {
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const text = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
    expect(inspect(await new KeyFile({ path: text, block, clock }).read())).not.toContain(text.slice(30, 60));
  });

  it('is advised by each code of the file system', () => {
    expect(fileAdvice('privateKeyPath', block, 'ENOTDIR')).toMatch(/at a file that exists\.$/);
    for (const code of ['EACCES', 'EPERM'])
      expect(fileAdvice('privateKeyPath', block, code)).toMatch(/^Let the server read the file/);
    expect(fileAdvice('privateKeyPath', block, 'EIO')).toMatch(/it cannot be read\.$/);
  });

  it('is refused when the server may not read it', async () => {
    await writeFile(path, textOf(first));
    await chmod(path, 0);
    expect(await asNobody(() => new KeyFile({ path, block, clock }).read())).toMatchObject({
      advice: 'Let the server read the file of "privateKeyPath" in the "serviceAccount" configuration block.',
      detail: `privateKeyPath: EACCES: ${path}`,
    });
  });
});
