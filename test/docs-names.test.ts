import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { configFromEnv } from '../src/composition/config/env.js';
import { runCommandLine } from './support/command-line.js';
import { anchors, blocks, documents, inlineCode, prose, ROOT } from './support/documents.js';

const all = documents();
const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8');

it('the tables of docs/configuration.md match the doc comments', { timeout: 60_000 }, async () => {
  const script = join(ROOT, 'scripts/configuration-table.mjs');
  await expect(promisify(execFile)(process.execPath, [script, '--check'])).resolves.toBeDefined();
});

it('docs/troubleshooting.md lists every error code with its status, and no other code', () => {
  const statuses = new Map(
    [...read('src/adapters/web/error-response.ts').matchAll(/^ {2}(\w+): (\d{3}),$/gm)].map(([, code, status]) => [
      code ?? '',
      status ?? '',
    ]),
  );
  expect(statuses.size).toBeGreaterThan(20);
  const page = read('docs/troubleshooting.md');
  const entries = new Map(
    [...page.matchAll(/^### `(\w+)`\n([\s\S]*?)(?=^##|(?![\s\S]))/gm)].map(([, code = '', text = '']) => [code, text]),
  );
  expect([...entries.keys()].sort()).toEqual([...statuses.keys()].sort());
  const without = [...statuses].filter(([code, status]) => !entries.get(code)?.includes(status));
  expect(without).toEqual([]);
  expect([...statuses.keys()].filter((code) => !anchors(page).has(code))).toEqual([]);
});

it('every npm script and Node script named in a document exists', () => {
  const named = all.flatMap(({ file, text }) => {
    const scripts = [...text.matchAll(/npm run ([\w:-]+)/g)].map(([, name = '']) => ({ file, name }));
    return scripts.filter(({ name }) => !scriptsFor(file).has(name));
  });
  expect(named).toEqual([]);
  const files = all.flatMap(({ text }) =>
    [...text.matchAll(/\bnode ((?:scripts|bench)\/[\w./-]+)/g)].map(([, path = '']) => path),
  );
  expect(files.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
});

/** The scripts of the document's own package and of the root. */
function scriptsFor(file: string): ReadonlySet<string> {
  // Documents for sites also name the scripts of the starters.
  const folders = [posix.dirname(file), '.', 'starters/express', 'starters/next'].map(
    (folder) => `${folder}/package.json`,
  );
  const manifests = folders
    .filter((path) => existsSync(join(ROOT, path)))
    .map((path) => JSON.parse(read(path)) as object);
  return new Set(manifests.flatMap((manifest) => Object.keys((manifest as { scripts?: object }).scripts ?? {})));
}

it('every agent-bff command in a document exists, with its options', async () => {
  const commands = await commandLine();
  expect(commands.size).toBeGreaterThan(2);
  const used = all.flatMap(({ file, text }) => {
    const code = [...inlineCode(text), ...blocks(text).flatMap((block) => block.code.split('\n'))];
    return code.flatMap((line) => {
      const found = /(?:^|\bnpx )agent-bff ([a-z]+)\b([^#]*)/.exec(line.trim());
      if (found === null) return [];
      const [, command = '', rest = ''] = found;
      return [{ file, command, options: [...rest.matchAll(/(?<=\s)--[\w-]+/g)].map(([option]) => option) }];
    });
  });
  expect(used.length).toBeGreaterThan(5);
  const wrong = used.filter(({ command, options }) => {
    const known = commands.get(command);
    return known === undefined || options.some((option) => !known.has(option));
  });
  expect(wrong).toEqual([]);
});

it('the doctor prints the output shown in docs/authentication.md', async () => {
  const [, shown = ''] = /^```\n(✓ [\s\S]*?\n)```$/m.exec(read('docs/authentication.md')) ?? [];
  const env = {
    A2A_URL: 'https://agent.example/a2a',
    SERVICE_API_URL: 'https://platform.example/api',
    SERVICE_ACCOUNT_ID: 'sa-1',
    SERVICE_ACCOUNT_KEY_ID: 'key-1',
    SERVICE_ACCOUNT_PRIVATE_KEY_PATH: '/run/secrets/agent.pem',
  };
  expect(await printed(['doctor'], env)).toBe(shown);
});

it('docs/security.md names an existing test for every promise', () => {
  const page = read('docs/security.md');
  const promises = [...page.matchAll(/^(\d+)\. \*\*/gm)].map(([, number = '']) => number);
  expect(promises.length).toBeGreaterThan(10);
  const [, proof = ''] = /^## What proves it\n([\s\S]*?)^## /m.exec(page) ?? [];
  const rows = [...proof.matchAll(/^\| (\d+) .*`test\/.*$/gm)].map(([, number = '']) => number);
  expect([...new Set(rows)]).toEqual(promises);
  const paths = inlineCode(proof).filter((code) => code.includes('/'));
  expect(paths.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
});

/** Each command with its options, taken from the program's help. */
async function commandLine(): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
  const commands = new Map<string, ReadonlySet<string>>([['help', new Set()]]);
  for (const [, command = ''] of (await help('help')).matchAll(/^ {2}([a-z]+) {2,}/gm)) {
    const options = (await help(command, '--help')).match(/--[\w-]+/g);
    commands.set(command, new Set(options));
  }
  return commands;
}

function help(...line: readonly string[]): Promise<string> {
  return printed(line, {});
}

async function printed(line: readonly string[], env: Readonly<Record<string, string>>): Promise<string> {
  const said = await runCommandLine(line, { env });
  return `${said.printed}${said.complained}\n`;
}

it('every variable in the README sets the field beside it', () => {
  const rows = [...read('README.md').matchAll(/^\| `([\w.]+)` .*\| `([A-Z_]+)` +\|$/gm)];
  expect(rows.length).toBeGreaterThan(5);
  for (const [, field = '', variable = ''] of rows) {
    const config = configFromEnv({ [variable]: 'https://a.example' });
    const value = field.split('.').reduce<unknown>((block, name) => Object(block)[name], config);
    // A list has one entry here.
    expect([value].flat(), variable).toEqual(['https://a.example']);
  }
});

/** Names of other products that documents mention: browsers, bundlers, Node, Entra, Kubernetes, agents, frameworks, http-proxy-middleware. */
const FOREIGN = new Set(
  `textContent requestTimeout maxConnections maxRequestsPerSocket writeQueueSize maxDuration
  knownClientApplications requestedAccessTokenVersion terminationGracePeriodSeconds
  serverExternalPackages setGlobalPrefix overrideGlobalObjects autoCleanupIncoming onRequest
  resourceId userId coderAgent createFromUrl useA2ARuntime changeOrigin cookieDomainRewrite fixRequestBody followRedirects proxyReq proxyRes proxyTimeout exportConditions noExternal`.split(
    /\s+/,
  ),
);

it('every name of the package used in a document exists in the sources', () => {
  const known = identifiers('src', 'react/src', 'scripts', 'examples', 'bench');
  const unknown = all
    .filter(({ file }) => !file.startsWith('examples/next/'))
    .flatMap(({ file, text }) =>
      inlineCode(text)
        .flatMap((code) => code.match(/(?<![\w/.-])[a-z]+[A-Z]\w*/g) ?? [])
        .filter((name) => !known.has(name) && !FOREIGN.has(name))
        .map((name) => `${file}: ${name}`),
    );
  expect(unknown).toEqual([]);
});

it('every configuration field in a document exists in its block', () => {
  const listed = new Set(
    [...read('docs/configuration.md').matchAll(/^### `([\w.]+)`\n([\s\S]*?)(?=^##|<!--)/gm)].flatMap(
      ([, block = '', table = '']) =>
        [...table.matchAll(/^\| `(\w+)` /gm)].map(([, field = '']) => `${block}.${field}`),
    ),
  );
  const inBlocks = new Set([...listed].map((path) => path.split('.', 1)[0]));
  const used = all.flatMap(({ file, text }) =>
    inlineCode(text)
      .filter((code) => /^[a-z]\w*(?:\.\w+)+$/i.test(code) && inBlocks.has(code.split('.', 1)[0]))
      .map((code) => ({ file, code })),
  );
  expect(used.length).toBeGreaterThan(10);
  expect(used.filter(({ code }) => !listed.has(code))).toEqual([]);
});

it('every source path in ARCHITECTURE.md and CONTRIBUTING.md exists', () => {
  const places = ['ARCHITECTURE.md', 'CONTRIBUTING.md']
    .flatMap((file) => inlineCode(read(file)))
    .filter((code) => /^(?:src|test|docs|etc|ports|domain|adapters|composition)\/[\w./-]*$/.test(code));
  expect(places.length).toBeGreaterThan(10);
  const roots = ['', 'src/'];
  expect(places.filter((place) => !roots.some((root) => existsSync(join(ROOT, root, place))))).toEqual([]);
});

it('no document cites a file outside the repository', () => {
  const foreign = all.filter(
    ({ file, text }) => !file.startsWith('docs/decisions/') && /\bDESIGN\b|§/.test(prose(text)),
  );
  expect(foreign.map(({ file }) => file)).toEqual([]);
});

/** Every name in the code of some folders. Symbolic links are skipped, because the benchmark installs this package beside others. */
function identifiers(...folders: readonly string[]): ReadonlySet<string> {
  const found = new Set<string>();
  for (const folder of folders) {
    for (const entry of readdirSync(join(ROOT, folder), { withFileTypes: true })) {
      const path = `${folder}/${entry.name}`;
      const isOurs = !['node_modules', 'dist', '.next', '.work'].includes(entry.name);
      if (entry.isDirectory() && isOurs) for (const name of identifiers(path)) found.add(name);
      if (!entry.isFile() || !/\.(?:ts|tsx|mjs)$/.test(entry.name)) continue;
      for (const [identifier] of read(path).matchAll(/\b[a-z]+[A-Z]\w*/g)) found.add(identifier);
    }
  }
  return found;
}

it('every website in the guides sets whose its conversations are', () => {
  const mounts = /\bcreate(?:A2ARouter|A2AProxyHandler(?:WithServiceAuth)?|Handlers|NodeHandler|WebHandler)\(/;
  const silent = ['docs/chat.md', 'docs/frameworks.md', 'docs/deployment.md', 'react/README.md'].flatMap((file) =>
    blocks(read(file))
      .map(({ code }) => code)
      .filter((code) => mounts.test(code) && !code.includes("conversations: 'visitor'"))
      .map((code) => `${file}: ${code.split('\n').find((line) => mounts.test(line)) ?? ''}`),
  );
  expect(silent).toEqual([]);
});
