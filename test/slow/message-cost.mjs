// node test/slow/message-cost.mjs <folder of another checkout>: CPU and the longest stall of one message of 2 MB, beside another checkout, in
// turns. A message may cost at most three times as much, and 20 ms.
import { once } from 'node:events';
import { createServer, request } from 'node:http';
import { join, resolve } from 'node:path';
import { listening } from '../support/listening.mjs';
import { Report } from './report.mjs';
import { startSite } from './site-process.mjs';

const MOST_TIMES = 3;
const MOST_MS = 20;
const ROUNDS = 15;
const BYTES = 1_900_000;
const filled = (unit) => unit.repeat(Math.floor(BYTES / Buffer.byteLength(unit)));
const part = (text) => `{"jsonrpc":"2.0","id":1,"method":"message/send","params":{"message":{"parts":[${text}]}}}`;
const table = (row) => Array.from({ length: 2_500 }, (_, at) => row(at)).join(',');
const MESSAGES = {
  'a file in base64': part(`{"kind":"file","file":{"bytes":"${filled('QUJD')}"}}`),
  'a text': part(`{"kind":"text","text":"${filled('Lorem ipsum dolor sit amet. ')}"}`),
  'a text with escapes': part(`{"kind":"text","text":"${filled('line\\n\\"quoted\\" ')}"}`),
  'a text in Chinese': part(`{"kind":"text","text":"${filled('漢字仮名交じり文')}"}`),
  'a text and a blank': ` ${part(`{"kind":"text","text":"${filled('Lorem ipsum dolor sit amet. ')}"}`)}`,
  'a text and a number that needs its text': part(`{"n":1.0,"text":"${filled('Lorem ipsum dolor sit amet. ')}"}`),
  'a table with numbers': part(`{"data":[${table((at) => `{"id":${at},"price":1.50,"name":"${'x'.repeat(700)}"}`)}]}`),
};

const [folder] = process.argv.slice(2);
const { startSite: startOther } = await import(join(resolve(folder), 'test/slow/site-process.mjs'));
const agent = createServer((incoming, response) => {
  incoming.resume().on('end', () => response.setHeader('content-type', 'application/json').end('{"jsonrpc":"2.0"}'));
});
const origin = await listening(agent);
const options = { server: 'http' };
const sites = [await startSite(`${origin}/a2a`, {}, options), await startOther(`${origin}/a2a`, {}, options)];
const report = new Report('the cost of a message of 2 MB');

async function send({ url }, body) {
  const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
  const outgoing = request(`${url}/api/a2a`, { method: 'POST', headers }).end(body);
  const [response] = await once(outgoing, 'response');
  response.resume();
  await once(response, 'end');
  return response.statusCode;
}

const middle = (numbers) => numbers.toSorted((one, other) => one - other)[Math.floor(numbers.length / 2)];
for (const [name, message] of Object.entries(MESSAGES)) {
  const costs = [[], []];
  const stalls = [[], []];
  for (let round = -5; round < ROUNDS; round += 1) {
    for (const index of round % 2 === 0 ? [0, 1] : [1, 0]) {
      await sites[index].work();
      const status = await send(sites[index], message);
      if (status !== 200) throw new Error(`${name}: status ${status}`);
      const { cpuMs, stallMs } = await sites[index].work();
      if (round < 0) continue;
      costs[index].push(cpuMs);
      stalls[index].push(stallMs);
    }
  }
  const [own, other] = costs.map(middle);
  const [stall, otherStall] = stalls.map(middle);
  const figures = `${own.toFixed(1)} ms of CPU beside ${other.toFixed(1)}, stall ${stall.toFixed(0)} ms beside ${otherStall.toFixed(0)}`;
  report.check(name, own <= MOST_TIMES * other && own <= MOST_MS, figures);
}
for (const site of sites) await site.close();
agent.close();
report.finish();
