import { execFileSync } from 'node:child_process';
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
/** The reach of a range: minor releases, patches, or one version. */
const KIND = /^([\^~]?)\d+\.\d+\.\d+$/;
/** The packages that `npm install agent-bff` adds. */
const installed = Object.entries(lock.packages).filter(([path, { dev }]) => path !== '' && dev !== true);

describe('installing the package', () => {
  it('runs no install script of the package or of any dependency, including those for tests and tools', () => {
    expect(Object.keys(manifest.scripts)).not.toEqual(
      expect.arrayContaining([expect.stringMatching(/^(?:pre|post)?(?:install|prepare)$/)]),
    );
    const scripted = Object.entries(lock.packages).filter(([, { hasInstallScript }]) => hasInstallScript);
    expect(scripted.map(([path]) => path)).toEqual([]);
    expect(installed.length).toBeGreaterThan(10);
  });

  it('takes fixes of every library without a release of ours, except of the two that are part of its own code', () => {
    const { dependencies } = read('react/package.json') as Manifest;
    const kinds = Object.entries({ ...manifest.dependencies, ...dependencies }).map(([name, range]) => [
      name,
      KIND.exec(range)?.[1],
    ]);
    expect(Object.fromEntries(kinds)).toEqual({
      '@azure/msal-node': '^',
      jose: '^',
      keyv: '^',
      'lru-cache': '^',
      'openid-client': '^',
      dompurify: '^',
      'highlight.js': '^',
      // Two of its private files are used (decision 73).
      undici: '~',
      // What the container's own range allows.
      'reflect-metadata': '~',
      // Part of the built code.
      inversify: '',
      // Its parser decides whether a stylesheet is harmless.
      '@csstools/css-tokenizer': '',
    });
  });

  it('adds a CSS parser of at most 300 kB without dependencies', () => {
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

  it('brings code, its documents, the starters and the demo, and nothing else', () => {
    const root = fileURLToPath(new URL('..', import.meta.url));
    const options = ['pack', '--dry-run', '--json', '--ignore-scripts'];
    const packed = (folder: string): readonly string[] => {
      const output = execFileSync('npm', options, {
        cwd: join(root, folder),
        encoding: 'utf8',
        shell: process.platform === 'win32',
      });
      const [{ files }] = JSON.parse(output) as [{ readonly files: readonly { readonly path: string }[] }];
      return files.map(({ path }) => path);
    };
    const pages = '(?:README|CHANGELOG|SECURITY)\\.md|LICENSE|package\\.json';
    const code = 'dist/.+\\.(?:js|d\\.ts|css)|dist/LICENSES\\.txt';
    const ours = new RegExp(
      `^(?:${pages}|${code}|react/(?:README|CHANGELOG)\\.md|docs/(?:api/|authentication/)?[\\w.-]+\\.md|starters/.+|examples/dist/(?:demo|web)/(?:assets/)?[\\w.-]+\\.(?:js|css|html|txt)|examples/site/people/\\w+\\.svg)$`,
    );
    const files = packed('.');
    expect(files.filter((path) => !ours.test(path))).toEqual([]);
    expect(files).toEqual(
      expect.arrayContaining(['README.md', 'docs/troubleshooting.md', 'starters/shared/env.example']),
    );
    expect(files.filter((path) => /^docs\/(?:benchmark|mutation|release|extending|words)\.md$/.test(path))).toEqual([]);
    expect(packed('react').filter((path) => !new RegExp(`^(?:${pages}|${code})$`).test(path))).toEqual([]);
  }, 60_000);

  it('requires Node 20.19, and lets bundlers drop unused code', () => {
    expect(manifest).toMatchObject({ type: 'module', sideEffects: false, engines: { node: '>=20.19.0' } });
  });
});

describe('the workflows', () => {
  const folder = fileURLToPath(new URL('../.github/workflows', import.meta.url));
  const workflows = readdirSync(folder).map((file) => ({ file, text: readFileSync(join(folder, file), 'utf8') }));

  it('use actions by the commit of a release, the same one everywhere', () => {
    const used = workflows.flatMap(({ text }) => [...text.matchAll(/uses: (.*)/g)].map(([, action = '']) => action));
    expect(used.length).toBeGreaterThan(8);
    expect(used.filter((action) => !/^actions\/[\w-]+@[\da-f]{40} # v\d+\.\d+\.\d+$/.test(action))).toEqual([]);
    const names = [...new Set(used)].map((action) => action.replace(/@.*/, ''));
    expect(names.toSorted()).toEqual([...new Set(names)].toSorted());
  });

  it('pack once, and publish nothing but the files that were tested', () => {
    const [release = ''] = workflows.filter(({ file }) => file === 'release.yml').map(({ text }) => text);
    const [, pack = '', test = '', publish = ''] = release.split(/^ {2}(?:pack|test|publish):$/m);
    expect(release.match(/npm run pack|npm pack|npm publish|scripts\/publish/g)).toEqual([
      'npm run pack',
      'scripts/publish',
    ]);
    expect(pack).toContain('upload-artifact');
    expect(test).toMatch(/needs: pack\n[^]*sha256sum --check SHA256SUMS[^]*\.ci\/run\n[^]*PACKED:/);
    expect(publish).toMatch(/needs: test\n[^]*environment: npm\n[^]*download-artifact[^]*scripts\/publish\.mjs packed/);
    expect(release.match(/id-token: write/g)).toHaveLength(1);
  });

  it('keep packed files in a folder that git, and so the format check, ignores', () => {
    const folders = workflows.flatMap(({ text }) => [...text.matchAll(/^ +path: (\S+)$/gm)].map(([, path]) => path));
    expect(folders).toContain('packed');
    const ignored = readFileSync(join(folder, '../../.gitignore'), 'utf8').split('\n');
    expect(folders.filter((path) => !ignored.includes(`${String(path)}/`))).toEqual([]);
  });
});
