import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { type RequestListener } from 'node:http';
import { join } from 'node:path';
import { configureServer } from 'agent-bff';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { blocks, documents, ROOT } from '../support/documents.js';
import { MESSAGE } from '../support/visitor.js';
import { listeningSite } from '../site/frameworks/listening-site.js';

/** The first code block in a document that mounts a chat on Express. */
function recipe(file: string): string {
  const text = documents().find((document) => document.file === file)?.text ?? '';
  const isSite = ({ code }: { code: string }): boolean =>
    code.includes("'agent-bff/express'") && code.includes('.listen(');
  return blocks(text).find(isSite)?.code ?? '';
}

const starter = readFileSync(join(ROOT, 'starters/express/server.ts'), 'utf8');

/** Serves the site of a recipe with a body parser mounted first. */
async function startSite(code: string, language: 'ts' | 'js') {
  mkdirSync(join(ROOT, 'temp'), { recursive: true });
  const folder = mkdtempSync(join(ROOT, 'temp', 'errors-'));
  const [setUp = ''] = code.split(/^(?:const port|app\.listen)/m);
  const parsing = setUp.replace(
    'const app = express();',
    "const app = express();\napp.use('/parsed', express.json());",
  );
  writeFileSync(join(folder, 'auth.js'), 'export const auth = () => null;\n');
  writeFileSync(join(folder, `site.${language}`), `${parsing}\nexport { app };\n`);
  const { app } = (await import(join(folder, `site.${language}`))) as { app: RequestListener };
  const { url, close } = await listeningSite(app);
  onTestFinished(async () => {
    await close();
    rmSync(folder, { recursive: true, force: true });
  });
  return url;
}

const json = { 'content-type': 'application/json' };
const REQUESTS: readonly (readonly [string, string, RequestInit])[] = [
  ['invalid JSON', '/api/a2a', { method: 'POST', headers: json, body: '{"jsonrpc":' }],
  ['3 MB', '/api/a2a', { method: 'POST', headers: json, body: JSON.stringify({ text: 'x'.repeat(3_000_000) }) }],
  ['invalid JSON for a surface', '/api/service-surfaces/poll/render', { method: 'POST', headers: json, body: '{' }],
  ['invalid JSON for a body parser', '/parsed', { method: 'POST', headers: json, body: '{' }],
  ['3 MB for a body parser', '/parsed', { method: 'POST', headers: json, body: `["${'x'.repeat(3_000_000)}"]` }],
  [
    'an unknown charset',
    '/parsed',
    { method: 'POST', headers: { 'content-type': 'application/json; charset=x' }, body: '{}' },
  ],
  [
    'an unknown content coding',
    '/parsed',
    { method: 'POST', headers: { ...json, 'content-encoding': 'x' }, body: '{}' },
  ],
  ['a path that is not UTF-8', '/%E0%A4%A', {}],
];
/** A stack trace line as it appears on an Express error page. */
const STACK = /(?:^|\n|<br>)(?:\s|&nbsp;)*at .+:\d+/;

beforeEach(() => {
  vi.stubEnv('NODE_ENV', 'development');
  vi.spyOn(console, 'error').mockImplementation(() => undefined);
});

describe.each([
  ['the starter', starter, 'ts'],
  ['the recipe for Express', recipe('docs/frameworks.md'), 'js'],
] as const)('a visitor of %s', (_site, code, language) => {
  it.each(REQUESTS)('sees no stack trace in the response to %s', async (_what, path, init) => {
    const url = await startSite(code, language);
    configureServer({ a2aUrl: 'http://127.0.0.1:9', serviceApiUrl: 'http://127.0.0.1:9' });
    const response = await fetch(url + path, init);
    expect(response.status).toBeGreaterThanOrEqual(400);
    expect(response.status).toBeLessThan(500);
    const text = await response.text();
    expect(text).not.toMatch(STACK);
    expect(text.length).toBeLessThan(1_000);
  });
});

it('the chat in the README responds to an invalid body with a JSON-RPC error', async () => {
  const url = await startSite(recipe('README.md'), 'js');
  for (const body of ['{"jsonrpc":', MESSAGE + ' '.repeat(3_000_000)]) {
    const response = await fetch(`${url}/api/a2a`, { method: 'POST', headers: json, body });
    expect(await response.json()).toMatchObject({ jsonrpc: '2.0', error: { code: expect.any(Number) as number } });
  }
});
