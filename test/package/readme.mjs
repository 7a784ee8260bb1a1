// Runs the README's ten lines as written, for Express, Koa and Next; only the port differs.
import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { sendMessage, startAgent } from './site.mjs';

const [, , readmePath] = process.argv;
const readme = readFileSync(readmePath, 'utf8');
const agent = await startAgent();

/** The first code blocks below a heading. */
function blocksBelow(heading) {
  const section = readme.split(`\n### ${heading}\n`)[1]?.split(/\n##+ /)[0] ?? '';
  const blocks = [...section.matchAll(/^```(?:js|ts)\n([\s\S]*?)^```$/gm)].map(([, code]) => code);
  assert.notEqual(blocks.length, 0, `README.md has code below "${heading}"`);
  return blocks.map((code) =>
    code
      .replace('(): Promise<void>', '()')
      .replace('app.listen(3000);', 'const server = app.listen(0, () => process.send(server.address().port));'),
  );
}

const environment = { ...process.env, A2A_URL: `${agent.url}/a2a`, SERVICE_API_KEY: 'the-key', NEXT_RUNTIME: 'nodejs' };

for (const framework of ['Express', 'Koa']) {
  const [code] = blocksBelow(framework);
  writeFileSync(`readme-${framework}.mjs`, code);
  const site = fork(`readme-${framework}.mjs`, { env: environment });
  const [port] = await once(site, 'message');
  assert.match(await sendMessage(`http://127.0.0.1:${port}`), /"result"/, framework);
  site.kill();
}

// Real builds of Next are tested elsewhere. This runs the two files only.
const [instrumentation, route] = blocksBelow('Next');
writeFileSync('readme-instrumentation.mjs', instrumentation);
writeFileSync('readme-route.mjs', route);
Object.assign(process.env, environment);
await (await import('./readme-instrumentation.mjs')).register();
const { POST } = await import('./readme-route.mjs');
assert.match(await sendMessage('http://site.example', (url, init) => POST(new Request(url, init))), /"result"/, 'Next');

assert.deepEqual(agent.credentials, ['the-key', 'the-key', 'the-key']);
await agent.close();
console.log('README: ok');
