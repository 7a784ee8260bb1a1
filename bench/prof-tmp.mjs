import { RIVALS } from './catalogue.mjs';
import { check, visit } from './measure.mjs';
import { startProcess } from './process.mjs';
import { message } from './scenarios.mjs';
const name = process.argv[2], cont = process.argv[3] === 'cont';
const upstream = await startProcess('upstream.mjs');
const load = await startProcess('load.mjs');
const { file, options } = RIVALS[name];
const p = await startProcess(file, { ...options, upstream: `http://127.0.0.1:${upstream.facts.port}/chat` }, { execArgv: process.argv[4] ? ['--cpu-prof', `--cpu-prof-dir=${process.argv[4]}`,'--cpu-prof-interval','200'] : [] });
const place = { key: 'k', process: p, target: { host: '127.0.0.1', port: p.facts.port } };
let ask = { scenario: 'chat', path: '/api/a2a', connections: 50, body: String(message()) };
if (cont) {
  const response = await fetch(`http://127.0.0.1:${p.facts.port}/api/a2a`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: message() });
  const [cookie = `agent-bff-visitor=${'A'.repeat(22)}.abcdef`] = response.headers.getSetCookie();
  const [, contextId = crypto.randomUUID()] = /"contextId":"([^"]+)"/.exec(await upstream.ask('last')) ?? [];
  ask = { ...ask, fields: { cookie: cookie.split(';', 1)[0] }, body: String(message(contextId)) };
}
check(await visit({ load }, place, ask, 2000, 10000));
const best = [];
for (let i = 0; i < 6; i++) { const a = await p.ask('cpu'); const r = await visit({ load }, place, ask, 1000); check(r); best.push(((await p.ask('cpu')) - a) / r.completed); }
console.log(name, cont ? 'cont' : 'first', best.map((x) => (x < 1 ? x * 1000 : x).toFixed(1)).join(' '), 'µs');
await p.close(); await load.close(); await upstream.close();
process.exit(0);
