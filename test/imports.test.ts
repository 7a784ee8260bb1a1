import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { rolldown } from 'rolldown';
import { beforeAll, describe, expect, it } from 'vitest';

const run = promisify(execFile);
const fromRoot = (path: string): string => fileURLToPath(new URL(`../${path}`, import.meta.url));

/** Names of the packages loaded by a new process that runs this program. */
async function packagesOf(program: string): Promise<Set<string>> {
  const observer = pathToFileURL(fromRoot('test/support/loaded-modules.mjs')).href;
  const flags = ['--import', observer, '--input-type=module', '--eval', program];
  const { stdout } = await run(process.execPath, flags, { cwd: fromRoot('.'), maxBuffer: 1 << 24 });
  const files = stdout.split('\n').filter((file) => file.startsWith('file:'));
  expect(files.some((file) => file.includes('/dist/composition/'))).toBe(true);
  const installed = /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//;
  const included = /\/dist\/chunks\/(inversify)\.js$/; // reflect-metadata is in the same chunk (decision 74)
  return new Set(files.flatMap((file) => installed.exec(file)?.[1] ?? included.exec(file)?.[1] ?? []));
}

/** The package's entries, and the subset that only mounts routes. */
const { exports } = JSON.parse(readFileSync(fromRoot('package.json'), 'utf8')) as { exports: Record<string, unknown> };
const ENTRIES = Object.keys(exports).flatMap((key) => (key.endsWith('.json') ? [] : [`agent-bff${key.slice(1)}`]));
const ROUTE_ENTRIES = ENTRIES.filter((entry) => entry !== 'agent-bff' && entry !== 'agent-bff/testing');

function fileOf(entry: string): string {
  return entry.replace(/^agent-bff\/?/, '') || 'index';
}

it('names the declarations of every entry for older module resolutions too', () => {
  const { typesVersions } = JSON.parse(readFileSync(fromRoot('package.json'), 'utf8')) as {
    typesVersions: { '*': Readonly<Record<string, readonly string[]>> };
  };
  const types = ENTRIES.filter((entry) => entry !== 'agent-bff').map((entry) => {
    const { types } = exports[`./${fileOf(entry)}`] as { readonly types: string };
    return [fileOf(entry), [types]];
  });
  expect(typesVersions['*']).toEqual(Object.fromEntries(types));
  const react = JSON.parse(readFileSync(fromRoot('react/package.json'), 'utf8')) as {
    types?: string;
    exports: { '.': { readonly types: string } };
  };
  expect(react.types).toBe(react.exports['.'].types);
});

/** Bytes of a bundle of this one module, with everything it imports from the package. */
async function bundleSize(source: string): Promise<number> {
  const entry = fromRoot('the-site.js');
  const site = {
    name: 'site',
    resolveId: (id: string) => (id === entry ? id : null),
    load: (id: string) => (id === entry ? source : null),
  };
  const bundle = await rolldown({ input: entry, platform: 'node', plugins: [site] });
  const { output } = await bundle.generate();
  return output.reduce((total, file) => total + (file.type === 'chunk' ? file.code.length : 0), 0);
}

const FRAMEWORKS = ['express', 'express4', 'koa', '@koa/router', 'next', 'react', 'fastify', 'hono', '@a2a-js/sdk'];
const PROVIDERS = ['@azure/msal-node', 'jsonwebtoken', 'openid-client', 'oauth4webapi'];
const PARSERS = ['@csstools/css-tokenizer'];

describe('importing the built package', { timeout: 60_000 }, () => {
  beforeAll(async () => {
    await run(process.execPath, [fromRoot('scripts/build.mjs'), '--if-needed']);
  }, 120_000);

  it.each(ENTRIES)('%s loads no web framework, identity provider library or CSS parser', async (entry) => {
    const packages = await packagesOf(`await import('${entry}')`);
    for (const name of [...FRAMEWORKS, ...PROVIDERS, ...PARSERS]) expect([...packages]).not.toContain(name);
  });

  it.each(ROUTE_ENTRIES)('%s loads neither the container nor the signature library', async (entry) => {
    const packages = await packagesOf(`await import('${entry}')`);
    for (const name of ['inversify', 'jose', 'undici']) expect([...packages]).not.toContain(name);
  });

  it.each(['ConfigurationError', 'isAgentBffError'])('%s alone adds less than 10 kB to a bundle', async (name) => {
    const bytes = await bundleSize(`import { ${name} } from 'agent-bff'; globalThis.used = ${name};`);
    expect(bytes).toBeGreaterThan(200);
    expect(bytes).toBeLessThan(10_000);
    // A toolkit is large, so this measurement does include the package.
    expect(await bundleSize(`import { createToolkit } from 'agent-bff'; createToolkit({});`)).toBeGreaterThan(100_000);
  });

  it.each(ENTRIES)('%s has the names of its source, and no others', async (entry) => {
    const source = entry === 'agent-bff' ? 'index' : entry.replace('agent-bff/', '');
    const [built, written] = (await Promise.all([
      import(fromRoot(`dist/composition/${source}.js`)),
      import(fromRoot(`src/composition/${source}.ts`)),
    ])) as readonly object[];
    expect(Object.keys(built ?? {}).sort()).toEqual(Object.keys(written ?? {}).sort());
  });
  it.each(['edge-light', 'browser'])(
    'code bundled for %s can import every name of every entry, and gets one sentence when it calls one',
    async (condition) => {
      const program = `
        const told = {};
        for (const entry of ${JSON.stringify(ENTRIES)})
          for (const [name, call] of Object.entries(await import(entry)))
            try { call(); } catch (error) { (told[entry] ??= {})[name] = error.message; }
        console.log(JSON.stringify(told));`;
      const { stdout } = await run(process.execPath, ['-C', condition, '--input-type=module', '--eval', program]);
      const told = JSON.parse(stdout) as Readonly<Record<string, Readonly<Record<string, string>>>>;
      for (const entry of ENTRIES) {
        const names = Object.keys((await import(fromRoot(`dist/composition/${fileOf(entry)}.js`))) as object);
        expect(Object.keys(told[entry] ?? {})).toEqual(names);
        for (const name of names) expect(told[entry]?.[name]).toMatch(new RegExp(`^${name} of agent-bff needs Node`));
      }
    },
  );

  it('the signature library is loaded with the first signature', async () => {
    const configure = `
      import { createToolkit } from 'agent-bff';
      const toolkit = createToolkit({ serviceAccount: { serviceAccountId: 'a', privateKeyPem: 'none' } });`;
    expect([...(await packagesOf(configure))]).not.toContain('jose');
    expect([...(await packagesOf(`${configure} await toolkit.authHeaders().catch(() => undefined);`))]).toContain(
      'jose',
    );
  });

  it('the container is loaded as one bundled file', async () => {
    const packages = await packagesOf(`await import('agent-bff')`);
    expect([...packages]).toContain('inversify');
    for (const name of ['@inversifyjs/core', 'reflect-metadata']) expect([...packages]).not.toContain(name);
  });

  it('the HTTP client is loaded without the parts that replace the global fetch', async () => {
    const packages = await packagesOf(`
      const { createToolkit } = await import('agent-bff');
      // It comes with the first toolkit, in the background.
      createToolkit({});
      process.once('beforeExit', () => {
        if (Symbol.for('undici.globalDispatcher.1') in globalThis) throw new Error('fetch has another dispatcher');
      });`);
    expect([...packages]).toContain('undici');
  });
});
