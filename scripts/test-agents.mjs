// npm run test:agents [-- --latest] [name …]: real agent servers behind a site, with the chat in Chromium before them.
// Prints one line per agent and writes the table of docs/clients.md. `--latest` installs the newest releases first.
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { createToolkit } from 'agent-bff';
import { createNodeHandler } from 'agent-bff/node';
import { runnerImport } from 'vite';
import { openBrowser } from '../test/package/browser.mjs';
import { freePort, started } from '../test/package/program.mjs';
import { listen } from '../test/package/site.mjs';
import { ensureBuilt } from './build.mjs';
import { ROOT, runNpm } from './command.mjs';
import { writeTable } from './generated-table.mjs';
import { AGENTS as FOLDER, ensureInstalled } from './installation.mjs';
import { nodeOf } from './temporary-site.mjs';

const NODE = '24.21.0';

/** The agents: their package, their server, and what their framework cannot do (`–` in the table). */
const AGENTS = [
  { name: '@a2a-js/sdk 0.2.5', package: 'a2a-sdk-0.2', server: 'sdk-0.2' },
  { name: '@a2a-js/sdk 0.3', package: 'a2a-sdk-0.3', server: 'sdk-0.3' },
  { name: '@a2a-js/sdk 1', package: 'a2a-sdk-1', server: 'sdk-1' },
  { name: '@google/adk', package: '@google/adk', server: 'adk', lacks: ['question', 'cancel'] },
  {
    name: '@strands-agents/sdk',
    package: '@strands-agents/sdk',
    server: 'strands',
    lacks: ['file', 'question', 'cancel'],
  },
  { name: '@mastra/core', package: '@mastra/core', server: 'mastra', lacks: ['file', 'question', 'break', 'reload'] },
  // The framework's agent stops when the connection closes, and its task reports "working" forever.
  {
    name: '@voltagent/a2a-server',
    package: '@voltagent/a2a-server',
    server: 'voltagent',
    lacks: ['file', 'question', 'break', 'reload'],
  },
  // The answer arrives in one piece, so it cannot be interrupted.
  {
    name: 'beeai-framework',
    package: 'beeai-framework',
    server: 'beeai',
    lacks: ['file', 'question', 'cancel', 'break', 'reload'],
  },
];

const LONG = 'word-400';
const SLOW = 'word-60';

/** The actions of a visitor, and the expected state of the chat. */
const SCENES = {
  words: async (visit) => {
    await visit.send('Some words');
    await visit.shows('Hello from the agent.');
    await visit.send('More words');
    await visit.count('Hello from the agent.', 2);
  },
  long: async (visit) => {
    await visit.send('long');
    await visit.shows(LONG);
    await visit.count('word-399 ', 1);
  },
  file: async (visit) => {
    await visit.send('file');
    await visit.shows('Hello from the agent.');
    await visit.page.locator('.a2a-message-agent img').waitFor();
  },
  question: async (visit) => {
    await visit.send('question');
    await visit.shows('Which city?');
    await visit.isIdle();
    await visit.send('Lisbon');
    await visit.shows('So it is reply Lisbon.');
    await visit.count('Which city?', 1);
  },
  cancel: async (visit) => {
    await visit.send('slow');
    await visit.shows('word-1');
    await visit.page.getByRole('button', { name: 'Stop' }).click();
    await visit.shows('Stopped');
    await visit.isIdle();
    await visit.lacks(SLOW);
  },
  break: async (visit) => {
    await visit.send('slow');
    await visit.shows('word-3');
    visit.breakConnections();
    await visit.shows(SLOW);
    await visit.count('word-3 ', 1);
  },
  reload: async (visit) => {
    await visit.send('slow');
    await visit.shows('word-3');
    await visit.open();
    await visit.shows(SLOW);
    await visit.count('word-3 ', 1);
  },
  // Two people: neither can enter the other's conversation in any of these ways.
  visitors: (visit) => twoVisitors(visit.a2aUrl, visit.isNew),
  error: async (visit) => {
    await visit.send('error');
    await visit.isIdle();
    await visit.page
      .locator('.a2a-failure, [role=alert], .a2a-message-agent')
      .filter({ hasText: /\S/ })
      .last()
      .waitFor();
    await visit.send('words');
    await visit.shows('Hello from the agent.');
  },
};

async function installLatest() {
  const { dependencies } = JSON.parse(readFileSync(join(FOLDER, 'package.json'), 'utf8'));
  // The SDK's generations stay pinned, since they are what is tested.
  const frameworks = AGENTS.map((agent) => agent.package).filter(
    (name) => name in dependencies && !name.startsWith('a2a-'),
  );
  const wanted = [
    ...new Set([...frameworks, '@mastra/hono', '@mastra/server', '@voltagent/core', '@voltagent/server-hono']),
  ];
  const packages = wanted.filter((name) => name in dependencies).map((name) => `${name}@latest`);
  const args = ['install', '--save-exact', '--ignore-scripts', ...packages];
  if ((await runNpm(args, { cwd: FOLDER })) !== 0) process.exit(1);
}

/** One agent, in a process of its own, and a visitor for each scene. */
async function tryAgent(agent) {
  const startedAt = Date.now();
  const { version } = JSON.parse(readFileSync(join(FOLDER, 'node_modules', agent.package, 'package.json'), 'utf8'));
  const scenes = {};
  const server = await startAgent(agent.server);
  const site = await startSite(server.url);
  for (const [scene, play] of Object.entries(SCENES)) {
    if (agent.lacks?.includes(scene)) {
      scenes[scene] = { mark: '–' };
      continue;
    }
    const visit = await Visit.start(site, { a2aUrl: server.url, isNew: agent.server === 'sdk-1' });
    try {
      await play(visit);
      scenes[scene] = { mark: '✓' };
    } catch (error) {
      scenes[scene] = { mark: '✗', why: ` (${String(error.message).split('\n')[0]}; shown: ${await visit.text()})` };
    }
    await visit.close();
  }
  await site.close();
  await server.stop();
  return { agent, version, scenes, ms: Date.now() - startedAt };
}

async function startAgent(name) {
  const port = await freePort();
  const command = [node, join(FOLDER, 'servers', `${name}.mjs`), String(port)];
  return started(command, FOLDER, { NODE_ENV: 'production' }, /(?<=^agent at )\S+$/m);
}

async function startSite(a2aUrl) {
  const toolkit = createToolkit({ a2aUrl, serviceApiKey: 'a-key', telemetry: 'silent' });
  const handle = createNodeHandler({ toolkit });
  const sockets = new Set();
  const server = createServer((request, response) => {
    const [, name] = /^\/page\/([\w.-]*)$/.exec(request.url) ?? [];
    const body = files.get(name);
    if (body === undefined) handle(request, response);
    else response.writeHead(200, { 'content-type': mediaTypeOf(name) }).end(body);
  });
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  const { url, close } = await listen(server);
  return {
    url: `${url}/page/`,
    breakConnections: () => sockets.forEach((socket) => socket.destroy()),
    close: () => close().then(() => toolkit.close()),
  };
}

/** A visitor before the chat. */
class Visit {
  static async start(site, agent) {
    const context = await browser.newContext({ viewport: { width: 800, height: 600 } });
    context.setDefaultTimeout(15_000);
    const { url, breakConnections } = site;
    const page = await context.newPage();
    const visit = Object.assign(new Visit(), { ...agent, url, breakConnections, context, page });
    await visit.open();
    return visit;
  }

  async open() {
    await this.page.goto(this.url);
    await this.page.waitForFunction(() => 'show' in globalThis);
    await this.page.evaluate(() => globalThis.show('A2AChat', { keepOnReload: true }));
    await this.page.locator('.a2a-panel textarea').waitFor();
  }

  async send(text) {
    const input = this.page.locator('.a2a-panel textarea');
    await this.isIdle();
    await input.fill(text);
    await input.press('Enter');
  }

  /** Waits until the agent's messages hold a text. */
  async shows(text) {
    await this.page.locator('.a2a-message-agent').filter({ hasText: text }).last().waitFor();
  }

  /** Waits until the agent's messages contain a text exactly this many times. */
  async count(text, times) {
    await this.isIdle();
    const said = await this.text();
    if (said.split(text).length - 1 !== times)
      throw new Error(`"${text}" is there ${said.split(text).length - 1} times`);
  }

  async lacks(text) {
    if ((await this.text()).includes(text)) throw new Error(`"${text}" is there`);
  }

  /** Waits until no answer is being written. */
  async isIdle() {
    await this.page.waitForFunction(
      () => document.querySelector('.a2a-message-agent [aria-busy=true], .a2a-stop') === null,
    );
    await this.page.locator('.a2a-panel textarea').waitFor();
  }

  async text() {
    const words = await this.page.locator('.a2a-message-agent .a2a-bubble').allInnerTexts();
    return words.join(' | ').replaceAll(/\s+/g, ' ').slice(0, 4_000);
  }

  async close() {
    await this.context.close();
  }
}

const given = process.argv.slice(2);
const isLatest = given.includes('--latest');
const chosen = given.filter((word) => word !== '--latest');

await ensureBuilt('package', 'react');
if (isLatest) await installLatest();
else await ensureInstalled(FOLDER);

// Ending this run also ends the agent and the browser.
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1));
const node = await nodeOf(NODE);
const { module: pages } = await runnerImport(join(ROOT, 'test/support/component-files.ts'));
const { mediaTypeOf } = pages;
const files = await pages.componentFiles();
// The tests of conversations share this walk.
const { twoVisitors } = (await runnerImport(join(ROOT, 'test/support/two-visitors.ts'))).module;
const browser = await openBrowser({ handleSIGTERM: false, handleSIGINT: false });
const results = [];
for (const agent of AGENTS.filter(({ server }) => chosen.length === 0 || chosen.includes(server))) {
  const result = await tryAgent(agent);
  results.push(result);
  const cells = Object.entries(result.scenes).map(([scene, { mark, why = '' }]) => `${scene} ${mark}${why}`);
  console.log(`${agent.name} ${result.version} (${Math.round(result.ms / 1000)} s): ${cells.join(', ')}`);
}
await browser.close();
if (chosen.length === 0)
  await writeTable(join(ROOT, 'docs/clients.md'), 'agents', [
    ['Agent', ...Object.keys(SCENES)],
    ...results.map(({ agent, version, scenes }) => [
      `\`${agent.name.replace(/ .*/, '')} ${version}\``,
      ...Object.values(scenes).map(({ mark }) => mark),
    ]),
  ]);
process.exitCode = results.every(({ scenes }) => Object.values(scenes).every(({ mark }) => mark !== '✗')) ? 0 : 1;
