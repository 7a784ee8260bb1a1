import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type * as env from '../src/composition/config/env.js';
import type * as resolving from '../src/composition/config/resolve-config.js';
import type * as index from '../src/composition/index.js';
import type * as web from '../src/composition/web.js';
import { beforeAll, describe, expect, it } from 'vitest';
import { temporaryFolder } from './support/temporary-folder.js';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** A copy of the sources with every change of docs/extending.md applied. */
let copy: string;

async function load<Module>(file: string): Promise<Module> {
  return (await import(/* @vite-ignore */ pathToFileURL(join(copy, 'src', file)).href)) as Module;
}

describe('the changes that docs/extending.md shows', () => {
  beforeAll(() => {
    copy = temporaryFolder('extending');
    cpSync(join(ROOT, 'src'), join(copy, 'src'), { recursive: true });
    for (const file of ['package.json', 'tsconfig.json']) cpSync(join(ROOT, file), join(copy, file));
    symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'));
    const page = readFileSync(join(ROOT, 'docs/extending.md'), 'utf8');
    const changes = [...page.matchAll(/^```diff\n([\s\S]*?)^```$/gm)].map(([, change = '']) => change);
    expect(changes).toHaveLength(5);
    mkdirSync(join(copy, 'changes'));
    changes.forEach((change, index) => {
      const file = join(copy, 'changes', `${String(index)}.diff`);
      writeFileSync(file, change);
      execFileSync('git', ['apply', '--unsafe-paths', `--directory=${copy}`, file], { cwd: '/' });
    });
  });

  it('compile together', () => {
    const compiler = join(ROOT, 'node_modules/typescript/bin/tsc');
    const { stdout } = spawnSync(process.execPath, [compiler, '--noEmit', '-p', join(copy, 'tsconfig.json')]);
    expect(String(stdout)).toBe('');
  }, 60_000);

  it('give a field of the configuration its variable, its check and its place', async () => {
    const { configFromEnv } = await load<typeof env>('composition/config/env.ts');
    const { resolveConfig } = await load<typeof resolving>('composition/config/resolve-config.ts');
    const config = configFromEnv({ SERVICE_TENANT_HEADER: 'x-tenant' });
    expect(resolveConfig(config)).toMatchObject({ tenantHeader: 'x-tenant' });
    expect(() => resolveConfig({ tenantHeadr: 'x' } as never)).toThrow('tenantHeader');
  });

  it('give a strategy its identity provider', async () => {
    const { createToolkit } = await load<typeof index>('composition/index.ts');
    const toolkit = createToolkit({ serviceApiUrl: 'https://platform.example', authProvider: 'okta' as never });
    expect(await toolkit.authHeaders()).toMatchObject({ authorization: 'Bearer okta-token' });
    await toolkit.close();
  });

  it('find the token in the session of a library', async () => {
    const { luciaSession } = await load<{
      luciaSession: (lucia: object) => { getToken: (request: object, query: object) => Promise<unknown> };
    }>('adapters/sessions/lucia.ts');
    const lucia = { validateRequest: async () => Promise.resolve({ session: { accessToken: 'ada-token' } }) };
    const request = { headers: {}, native: { request: {} } };
    expect(await luciaSession(lucia).getToken(request, {})).toMatchObject({ kind: 'token', accessToken: 'ada-token' });
  });

  it('serve a route in a framework', async () => {
    const { createPolkaMiddleware } = await load<{ createPolkaMiddleware: (options: object) => unknown }>(
      'composition/polka.ts',
    );
    expect(createPolkaMiddleware({})).toBeTypeOf('function');
    const { createWebHandler } = await load<typeof web>('composition/web.ts');
    const response = await createWebHandler()(new Request('https://site.example/api/status'));
    expect(await response.json()).toEqual({ status: 'up' });
  });
});
