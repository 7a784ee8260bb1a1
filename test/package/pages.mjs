// Follows docs/chat.md to the letter, from empty folders: its commands, with the packed packages in place of the published ones, and its
// files.
// Then a visitor in Chromium reads an agent's answer as it arrives. Arguments: the packed packages, and --shots FOLDER for pictures.
// Prints the seconds of each step.
import assert from 'node:assert/strict';
import { execSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { openBrowser, problemsOf } from './browser.mjs';
import { hasRun } from './blocks.mjs';
import { freePort, lanAddress, started } from './program.mjs';

const { values, positionals } = parseArgs({ allowPositionals: true, options: { shots: { type: 'string' } } });
const tarballs = new Map(
  positionals.map((file) => [/agent-bff-react/.test(file) ? 'agent-bff-react' : 'agent-bff', resolve(file)]),
);
const [page, authentication] = ['chat', 'authentication'].map((name) =>
  readFileSync(fileURLToPath(new URL(`../../docs/${name}.md`, import.meta.url)), 'utf8'),
);
const ENVIRONMENT = {
  npm_config_yes: 'true',
  NEXT_TELEMETRY_DISABLED: '1',
  NO_COLOR: '1',
  SERVICE_AUTH_STRATEGY: 'none',
};

const browser = await openBrowser();
const vite = await site('React with Vite, and Express');
const demo = await started('npx agent-bff demo --port 0', vite.folder);
ENVIRONMENT.A2A_URL = `${demo.url}/agent`;
const links = fileURLToPath(new URL('links.mjs', import.meta.url));
await vite.step('leads nowhere but to files it has', `node ${links} agent-bff-react`);
await vite.step('builds', 'npm run build');
const express = await vite.serves('express, built', 'node server.js');
await vite.serves('vite dev', `npm run dev -- --host --port ${await freePort()}`);
express.stop();

// The built page stays; another server replaces the first one.
const [install] = /npm install [^`]+koa-static/.exec(section('Other frameworks'));
await vite.step('installs Koa', withPackages(install));
vite.write('Other frameworks');
const koa = await vite.serves('koa, built', 'node server.js');
koa.stop();

// An agent of one's own in place of the demo, configured as docs/authentication.md shows.
await vite.step('installs an agent', `npm install @a2a-js/sdk@${versionOf('@a2a-js/sdk')}`);
await vite.servesAgent('No credential', {});
await vite.servesAgent('A fixed token', { TOKEN: 'a-fixed-token' });

const next = await site('Next');
// In development, Next itself refuses its scripts to other names than localhost (`allowedDevOrigins`).
await next.serves('next dev', 'npm run dev', { own: await freePort(), elsewhere: false });
await next.step('builds', 'npm run build');
await next.serves('next, built', 'npm start', { own: await freePort() });
await browser.close();
process.exit(0);

/** A site created by the first commands and files of a section. */
async function site(heading) {
  const home = resolve(heading.split(' ')[0]);
  mkdirSync(home, { recursive: true });
  const folder = join(home, 'site');
  const port = await freePort();
  const step = async (what, command, cwd = folder) => {
    const began = performance.now();
    try {
      execSync(command, { cwd, env: { ...process.env, ...ENVIRONMENT }, stdio: ['ignore', 'pipe', 'pipe'] });
    } catch ({ stdout, stderr }) {
      throw new Error(`"${command}" failed; does it reach the registry?\n${stdout}${stderr}`.slice(0, 4_000));
    }
    console.log(`${heading}: ${what} in ${seconds(began)} s`);
  };
  const write = (from) => {
    for (const [, name, code] of section(from).matchAll(
      /`([^`\n]+\.tsx?|server\.js)`[^\n]*\n\n```\w+\n([\s\S]*?)^```$/gm,
    )) {
      mkdirSync(dirname(join(folder, name)), { recursive: true });
      const ready = `app.listen(${port}, () => console.log('http://localhost:${port}'));`;
      hasRun(code);
      writeFileSync(join(folder, name), code.replace('app.listen(3000);', ready).replace(':3000', `:${port}`));
    }
  };
  const serves = async (what, command, { own = port, elsewhere = true } = {}) => {
    const began = performance.now();
    const server = await started(command, folder, { ...ENVIRONMENT, PORT: String(own) });
    await visit(server.url, what);
    // Such as a phone in the same network; over plain HTTP its browser sends no Sec-Fetch-Site.
    if (elsewhere) await visit(server.url.replace('localhost', lanAddress()), `${what} in the network`);
    console.log(`${heading}: ${what} shows the agent's words in ${seconds(began)} s`);
    return server;
  };

  /** The page in front of an agent of @a2a-js/sdk, with the Express server of this page and the configuration of that section. */
  const servesAgent = async (configured, env) => {
    const began = performance.now();
    copyFileSync(fileURLToPath(new URL('sdk-agent.mjs', import.meta.url)), join(folder, 'agent.mjs'));
    const agent = await started('node agent.mjs', folder, { ...env, PORT: String(await freePort()) });
    const [, code] = /```ts\n([\s\S]*?)^```$/m.exec(section(configured, authentication)) ?? [];
    assert.match(code, /^import \{ configureServer \} from 'agent-bff';\n/);
    hasRun(code);
    write(heading);
    const file = join(folder, 'server.js');
    const [, ...lines] = readFileSync(file, 'utf8').split(/^.*(?:from 'agent-bff'|configFromEnv).*\n/m);
    const here = code.replace(/http\S+\/a2a/, `${agent.url}/a2a`);
    writeFileSync(file, `import express from 'express';\n${here}${lines.join('')}`);
    const server = await started('node server.js', folder, { SERVICE_TOKEN: env.TOKEN });
    await greet(server.url);
    console.log(`${heading}: an agent as in "${configured}" shows its words in ${seconds(began)} s`);
    server.stop();
    agent.stop();
  };

  const [, commands] = /```bash\n([\s\S]*?)```/.exec(section(heading));
  hasRun(commands);
  const [create, ...more] = commands.trim().split('\n');
  await step('is created', create, home);
  await step('installs', more.map(withPackages).join('\n'), home);
  write(heading);
  return { folder, step, write, serves, servesAgent };
}

/** The version of a package that this repository tests with. */
function versionOf(name) {
  const manifest = readFileSync(fileURLToPath(new URL('../../package.json', import.meta.url)), 'utf8');
  return JSON.parse(manifest).devDependencies[name];
}

/** Sends a message, and sees words arrive while the agent is still writing. */
async function visit(url, name) {
  const tab = await browser.newPage({ viewport: { width: 1280, height: 800 } });
  const problems = problemsOf(tab);
  await tab.goto(url, { timeout: 120_000 });
  const field = tab.getByRole('textbox', { name: 'Message' });
  const fab = tab.getByRole('button', { name: 'Ask us', exact: true });
  await field.or(fab).first().waitFor();
  if (await fab.isVisible()) await fab.click();
  await field.fill('slow');
  await field.press('Enter');
  const bubble = tab.locator('.a2a-message-agent .a2a-bubble[aria-busy=true]');
  await bubble.filter({ hasText: 'Counting slowly to 120: 1' }).waitFor();
  await bubble.filter({ hasText: ' 3' }).waitFor();
  if (values.shots !== undefined)
    await tab.screenshot({ path: join(values.shots, `${name.replaceAll(/\W+/g, '-')}.png`) });
  await tab.getByRole('button', { name: 'Stop' }).click();
  await tab.getByText('Stopped.').waitFor();
  await tab.close();
  assert.deepEqual(
    problems.filter((problem) => !problem.endsWith('/favicon.ico')),
    [],
  );
}

/** Sends one message, and reads the answer. */
async function greet(url) {
  const tab = await browser.newPage();
  await tab.goto(url);
  await tab.getByRole('button', { name: 'Ask us', exact: true }).click();
  await tab.getByRole('heading', { name: 'Ask us' }).waitFor();
  await tab.getByRole('textbox', { name: 'Message' }).fill('Hello');
  await tab.keyboard.press('Enter');
  await tab.locator('.a2a-message-agent').filter({ hasText: 'You said: Hello' }).waitFor();
  await tab.close();
}

/** The text below a heading of docs/chat.md, or of another page. */
function section(heading, from = page) {
  const text = from.split(`\n## ${heading}\n`)[1];
  assert.ok(text, `there is a section "${heading}"`);
  return text.split('\n## ')[0];
}

function withPackages(command) {
  return command.replaceAll(/(?<= )agent-bff(?:-react)?(?= |$)/g, (name) => tarballs.get(name));
}

function seconds(began) {
  return ((performance.now() - began) / 1_000).toFixed(1);
}
