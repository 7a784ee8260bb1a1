// Follows each starter of `agent-bff init` as a new user would: writes, installs and compiles it, sends a message with the demo as its
// agent, runs the doctor, and opens the page in Chromium, also in the LAN, where pages over plain http may do less. Arguments: the
// packed packages. Prints the seconds from nothing to a streamed answer.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { openBrowser } from './browser.mjs';
import { freePort, lanAddress, started } from './program.mjs';

const [kinds, ...tarballs] = process.argv.slice(2);
const BIN = 'node_modules/agent-bff/dist/composition/cli.js';
const shell = (command, args, cwd) =>
  execFileSync(command, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });

const browser = await openBrowser();
const demo = await started(`node ${BIN} demo --port 0`, '.');
for (const kind of kinds.split(',')) {
  const began = performance.now();
  const folder = resolve(`starter-${kind}`);
  shell(process.execPath, [BIN, 'init', kind, folder]);
  const manifest = join(folder, 'package.json');
  const written = JSON.parse(readFileSync(manifest, 'utf8'));
  for (const tarball of tarballs) {
    const name = /agent-bff-react/.test(tarball) ? 'agent-bff-react' : 'agent-bff';
    if (written.dependencies[name] !== undefined) written.dependencies[name] = `file:${resolve(tarball)}`;
  }
  writeFileSync(manifest, JSON.stringify(written));
  const settings = readFileSync(join(folder, '.env'), 'utf8').replace(/^A2A_URL=.*$/m, `A2A_URL=${demo.url}/agent`);
  writeFileSync(join(folder, '.env'), settings);
  shell('npm', ['install', '--no-audit', '--no-fund', '--loglevel=error'], folder);
  if (kind === 'next') shell('npm', ['run', 'build'], folder);
  const port = String(await freePort());
  const site = await started('npm start', folder, { PORT: port });
  const first = await streamed(`${site.url}/api/a2a`);
  const seconds = Math.round((performance.now() - began) / 1_000);
  const page = await (await fetch(site.url)).text();
  const [, icon] = /<link rel="icon" href="([^"]+)"/.exec(page) ?? [];
  assert.match(page, /<html/);
  assert.match((await fetch(new URL(icon, site.url))).headers.get('content-type'), /^image\/svg/);
  shell('npm', ['run', 'typecheck'], folder);
  assert.match(shell('npm', ['run', 'doctor'], folder), /All is well/);
  console.log(
    `${kind}: ${seconds} s from nothing to a streamed answer (first event ${first} ms); compiles, and the doctor is content`,
  );
  // The page of Next is the chat of agent-bff-react, which has its own tests.
  if (kind !== 'next') for (const host of ['localhost', lanAddress()]) await chat(`http://${host}:${port}`);
  site.stop();
}
await browser.close();
process.exit(0);

/** A visitor sends a message, loses the cookie, and begins again. */
async function chat(url) {
  const context = await browser.newContext();
  const tab = await context.newPage();
  await tab.goto(url);
  const says = async (text) => {
    await tab.getByLabel('Message').fill(text);
    await tab.getByRole('button', { name: 'Send' }).click();
    const answer = tab.getByRole('listitem').last();
    await answer.and(tab.locator('.agent, .error')).filter({ hasNotText: /^…$/ }).waitFor();
    return { kind: await answer.getAttribute('class'), text: await answer.textContent() };
  };
  assert.equal((await says('one')).kind, 'agent', url);
  assert.equal((await says('two')).kind, 'agent', url);
  await context.clearCookies();
  const refused = await says('three');
  assert.equal(refused.kind, 'error', url);
  assert.match(refused.text, /send the message again to begin a new one/);
  assert.equal((await says('four')).kind, 'agent', url);
  await context.close();
}

/** Milliseconds until the first event of a streamed message; the stream must end by itself. */
async function streamed(url) {
  const message = { kind: 'message', role: 'user', messageId: '1', parts: [{ kind: 'text', text: 'Hello' }] };
  const began = performance.now();
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'message/stream', params: { message } }),
  });
  assert.equal(response.status, 200);
  assert.match(response.headers.get('content-type'), /^text\/event-stream/);
  let first;
  let text = '';
  for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
    first ??= Math.round(performance.now() - began);
    text += chunk;
  }
  assert.match(text, /"result"/);
  return first;
}
