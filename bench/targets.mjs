// The targets. Each line compares a measure of one server with a limit, or with the same measure of another server in the same run.
//
// `times`: subject / rival; `over`: subject - rival; neither: the subject alone. `atMost`, `atLeast`, or `within` for "flat, give or take".

const chat = { workload: 'chat', measure: 'cpu' };
const upload = { workload: 'upload', measure: 'cpu' };
const stream = { workload: 'stream', measure: 'cpu', subject: 'ours-express' };
const streams = { workload: 'open-streams', subject: 'ours-express' };
const render = { workload: 'render', times: 'express-constant' };
const growth = { workload: 'growth', measure: 'cpu', within: 0.1 };
const start = { workload: 'cold-start', measure: 'milliseconds' };
const next = { workload: 'next', measure: 'cpu', subject: 'ours-next' };

/** The targets, in the order of the report. */
export const TARGETS = [
  { id: 'T1', ...chat, subject: 'ours-express', times: 'express-dispatch', atMost: 1.2 },
  { id: 'T1', ...chat, subject: 'ours-express', times: 'node-dispatch', atMost: 1.6 },
  { id: 'T1', ...chat, subject: 'ours-express', times: 'http-proxy-middleware-parser', atMost: 0.45 },
  { id: 'T1', ...chat, subject: 'ours-express', times: 'express-fetch', atMost: 0.25 },
  { id: 'T1', ...chat, subject: 'ours-express', times: 'fastify-reply-from', atMost: 0.9 },
  { id: 'T2', ...chat, subject: 'ours-node', times: 'node-dispatch', atMost: 1.3 },
  { id: 'T2', ...chat, subject: 'ours-node', times: 'fastify-reply-from', atMost: 0.7 },
  { id: 'T2', ...chat, subject: 'ours-fastify', times: 'node-dispatch', atMost: 1.3 },
  { id: 'T2', ...chat, subject: 'ours-fastify', times: 'fastify-reply-from', atMost: 0.7 },
  { id: 'T3', ...chat, subject: 'ours-koa', times: 'koa-proxies', atMost: 0.4 },
  { id: 'T4', ...next, times: 'next-fetch', atMost: 0.65 },
  { id: 'T4', ...next, times: 'next-passthrough', atMost: 0.65 },
  { id: 'T5', ...upload, subject: 'ours-express-unparsed', times: 'node-client', atMost: 1.3 },
  { id: 'T5', ...upload, subject: 'ours-node', times: 'node-client', atMost: 1.3 },
  { id: 'T5', ...upload, subject: 'ours-express', times: 'http-proxy-middleware-parser', atMost: 0.9 },
  { id: 'T6', ...stream, times: 'node-client', atMost: 0.95 },
  { id: 'T6', ...stream, times: 'node-fetch', atMost: 1 },
  { id: 'T6', ...stream, times: 'express-fetch', atMost: 1 },
  { id: 'T6', ...stream, times: 'hono-proxy', atMost: 1 },
  { id: 'T8', ...streams, measure: 'kilobytes', atMost: 42 },
  { id: 'T8', ...streams, measure: 'kilobytes', times: 'node-fetch', atMost: 0.65 },
  // 10,000 in one process: browsers share connections, so that a stream takes one descriptor.
  { id: 'T8', workload: 'open-streams', subject: 'ours-http2-most', measure: 'held', atLeast: 10_000 },
  { id: 'T10', ...render, measure: 'cpu', subject: 'ours-render', atMost: 1.4 },
  { id: 'T10', ...render, measure: 'rate', subject: 'ours-render', atLeast: 0.7 },
  { id: 'T10', ...render, measure: 'rate', subject: 'ours-render-redis', atLeast: 0.3 },
  { id: 'T11', workload: 'credential', measure: 'microseconds', subject: 'credential', atMost: 5 },
  { id: 'T12', ...start, subject: 'ours-express', over: 'express-constant', atMost: 150 },
  { id: 'T12', ...start, subject: 'import agent-bff/express', atMost: 40 },
  { id: 'T13', ...growth, subject: 'streams-100', times: 'streams-1' },
  { id: 'T13', ...growth, subject: 'streams-1000', times: 'streams-1' },
  { id: 'T13', ...growth, subject: 'streams-5000', times: 'streams-1' },
  { id: 'T13', ...growth, subject: 'tokens-10000', times: 'tokens-10' },
  { id: 'T13', ...growth, subject: 'renders-10000', times: 'renders-10' },
];

/** Maximum spread of a usable reference. */
const MAX_SPREAD = 0.15;

/** Result of a target: `met`, `missed`, or `none` with the reason. */
export function verdict(target, results) {
  const workload = results[target.workload];
  if (workload === undefined) return none('not measured');
  const subject = measured(workload, target.subject, target.measure);
  if (subject.reason !== undefined) return none(subject.reason);
  const reference = target.times ?? target.over;
  if (reference === undefined) return judged(target, subject.median, subject);
  const rival = measured(workload, reference, target.measure);
  if (rival.reason !== undefined) return none(rival.reason);
  if (rival.spread > MAX_SPREAD) return none(`rounds of ${reference} lie ${percent(rival.spread)} apart`);
  const value = target.times === undefined ? subject.median - rival.median : subject.median / rival.median;
  return judged(target, value, subject);
}

/** The limit of a target as text, such as `≤ 1.2 × node-client`. */
export function limitText({ atMost, atLeast, within, times, over }) {
  const rival = times === undefined ? (over === undefined ? '' : ` over ${over}`) : ` × ${times}`;
  if (within !== undefined) return `${1 - within} to ${1 + within}${rival}`;
  return `${atMost === undefined ? '≥' : '≤'} ${(atMost ?? atLeast).toLocaleString('en')}${rival}`;
}

function judged({ atMost, atLeast, within }, value, { spread }) {
  const kept =
    within === undefined
      ? value <= (atMost ?? Number.POSITIVE_INFINITY) && value >= (atLeast ?? Number.NEGATIVE_INFINITY)
      : Math.abs(value - 1) <= within;
  return { kind: kept ? 'met' : 'missed', value, spread };
}

function measured(workload, key, measure) {
  const found = workload.figures.find((figure) => figure.key === key);
  if (found === undefined) return { reason: `${key} was not measured` };
  if (found.problem !== undefined) return { reason: `${key} ${found.problem}` };
  return found.measures[measure] ?? { reason: `no ${measure} of ${key}` };
}

function none(reason) {
  return { kind: 'none', reason };
}

function percent(part) {
  return `${Math.round(part * 100)} %`;
}
