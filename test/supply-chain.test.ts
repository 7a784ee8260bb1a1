import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

interface Manifest {
  readonly sideEffects?: boolean;
  readonly type?: string;
  readonly engines: Readonly<Record<string, string>>;
  readonly scripts: Readonly<Record<string, string>>;
  readonly dependencies: Readonly<Record<string, string>>;
}

interface Lock {
  readonly packages: Readonly<
    Record<string, { readonly dev?: boolean; readonly devOptional?: boolean; readonly hasInstallScript?: boolean }>
  >;
}

const read = (path: string): unknown =>
  JSON.parse(readFileSync(fileURLToPath(new URL(`../${path}`, import.meta.url)), 'utf8'));
const manifest = read('package.json') as Manifest;
const lock = read('package-lock.json') as Lock;
/** What `npm install agent-bff` brings along. */
const installed = Object.entries(lock.packages).filter(([path, { dev }]) => path !== '' && dev !== true);

describe('installing the package', () => {
  it('runs no script, neither of its own nor of what it, its tests or its tools bring along', () => {
    expect(Object.keys(manifest.scripts)).not.toEqual(
      expect.arrayContaining([expect.stringMatching(/^(?:pre|post)?(?:install|prepare)$/)]),
    );
    const scripted = Object.entries(lock.packages).filter(([, { hasInstallScript }]) => hasInstallScript);
    expect(scripted.map(([path]) => path)).toEqual([]);
    expect(installed.length).toBeGreaterThan(10);
  });

  it('brings exact versions along, and patch releases of two', () => {
    const loose = Object.entries(manifest.dependencies).filter(([, version]) => !/^\d+\.\d+\.\d+$/.test(version));
    // A peer of the container's parts, which no code of the package calls; and fixes of the HTTP client, which reach sites without us.
    expect(loose).toEqual([
      ['reflect-metadata', '~0.2.2'],
      ['undici', '~7.30.2'],
    ]);
  });

  it('brings a CSS parser of at most 300 kB along, which brings nothing', () => {
    const { dependencies } = read('node_modules/@csstools/css-tokenizer/package.json') as Partial<Manifest>;
    expect(dependencies ?? {}).toEqual({});
    const folder = fileURLToPath(new URL('../node_modules/@csstools/css-tokenizer', import.meta.url));
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) =>
      statSync(join(folder, name)),
    );
    const bytes = files.reduce((total, file) => total + (file.isFile() ? file.size : 0), 0);
    expect(bytes).toBeGreaterThan(10_000);
    expect(bytes).toBeLessThan(300_000);
  });

  it('needs Node 20.19, and leaves out what a site does not import', () => {
    expect(manifest).toMatchObject({ type: 'module', sideEffects: false, engines: { node: '>=20.19.0' } });
  });
});
