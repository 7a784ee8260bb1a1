// The visitors of the benchmark, in a process of their own. They keep their connections, check every answer, and count.
import { setTimeout as pause } from 'node:timers/promises';
import { Http2Connections, Http2Visitor } from './http2-visitor.mjs';
import { LatencyRecord } from './latency-record.mjs';
import { answerQuestions } from './process.mjs';
import { requestBytes, Visitor } from './visitor.mjs';

const STOP_MS = 5_000;
const ARRIVALS_AT_ONCE = 100;
const STUCK_MS = 30_000;

let run;
let held = [];

answerQuestions({}, { start, count, stop, once, hold, release, crawl });

/** Visitors who ask again as soon as they are answered. `vary` asks for that many different things in turn. */
function start({ target, scenario, path, connections, fields, vary = 1 }) {
  const requests = Array.from({ length: vary }, (_, index) => requestBytes(variant({ scenario, path, fields }, index)));
  const state = { completed: 0, bytes: 0, wrong: 0, dropped: 0, problem: '', asked: 0, stopping: false, busy: 0 };
  const latency = scenario === 'paced' ? new LatencyRecord() : undefined;
  const visitors = new Set();
  const arrive = () => {
    const mine = latency?.visitor();
    const visitor = new Visitor(target, scenario, {
      onBytes: (chunk, seen) => {
        state.bytes += chunk.length;
        mine?.take(chunk, seen);
      },
      onAnswer: (problem) => {
        state.busy -= 1;
        if (problem === '') state.completed += 1;
        else fail('wrong', problem);
        ask();
      },
      onGone: (busy) => {
        visitors.delete(visitor);
        if (busy) {
          state.busy -= 1;
          fail('dropped', 'the connection ended inside an exchange');
        }
        // A server may close a connection; a visitor then comes on another one.
        if (!state.stopping && state.dropped < connections * 20) setTimeout(arrive, busy ? 5 : 0);
      },
    });
    const ask = () => {
      if (state.stopping || visitor.socket.destroyed) return;
      state.busy += 1;
      mine?.begin();
      visitor.send(requests[state.asked++ % requests.length]);
    };
    visitors.add(visitor);
    ask();
  };
  const fail = (kind, problem) => {
    state[kind] += 1;
    state.problem ||= problem;
  };
  for (let count = 0; count < connections; count += 1) arrive();
  run = { state, visitors, latency };
}

function count() {
  const { completed, bytes, wrong, dropped, problem } = run.state;
  return { completed, bytes, wrong, dropped, problem, at: performance.now() };
}

/** Lets everybody finish, then sends them home. */
async function stop() {
  const { state, visitors, latency } = run;
  state.stopping = true;
  const until = performance.now() + STOP_MS;
  while (state.busy > 0 && performance.now() < until) await pause(5);
  const stuck = state.busy;
  for (const visitor of visitors) visitor.leave();
  return { ...count(), stuck, latency: latency?.summary() };
}

/** One visitor with one request, on a connection of its own. */
function once({ target, scenario, path, fields }) {
  return new Promise((resolve) => {
    const visitor = new Visitor(target, scenario, {
      onAnswer: (problem) => {
        resolve({ problem });
        visitor.leave();
      },
      onGone: () => resolve({ problem: 'the connection ended inside an exchange' }),
    });
    setTimeout(() => resolve({ problem: 'no answer' }), STUCK_MS).unref();
    visitor.send(requestBytes({ scenario, path, fields }));
  });
}

/** Visitors who each open a stream and keep it, once its first event has come: on a connection each, or over HTTP/2 on shared ones. */
async function hold({ target, scenario, path, connections, fields, http2 = false }) {
  const request = http2 ? { path, fields } : requestBytes({ scenario, path, fields });
  const shared = new Http2Connections(target);
  let problem = '';
  const arrive = () =>
    new Promise((resolve) => {
      const begun = (trouble = '') => {
        problem ||= trouble;
        clearTimeout(timer);
        resolve();
      };
      const timer = setTimeout(() => begun('a stream did not begin'), STUCK_MS).unref();
      const listener = {
        onBytes: () => begun(),
        onAnswer: () => begun('a stream ended'),
        onGone: () => begun('a connection ended'),
      };
      const visitor = http2
        ? new Http2Visitor(shared.next(), scenario, listener)
        : new Visitor(target, scenario, listener);
      held.push(visitor);
      visitor.send(request);
    });
  for (let left = connections; left > 0 && problem === ''; left -= ARRIVALS_AT_ONCE) {
    await Promise.all(Array.from({ length: Math.min(left, ARRIVALS_AT_ONCE) }, arrive));
  }
  return { held: held.filter(({ isThere }) => isThere).length, problem };
}

function release() {
  for (const visitor of held) visitor.leave();
  held = [];
}

/** One visitor who reads at this many bytes a second, and leaves in the middle. */
async function crawl({ target, scenario, path, bytesPerSecond, seconds }) {
  let received = 0;
  let debtMs = 0;
  let gone = false;
  const visitor = new Visitor(target, scenario, {
    onBytes: (chunk) => {
      received += chunk.length;
      debtMs += (chunk.length / bytesPerSecond) * 1_000;
      if (debtMs < 20) return;
      visitor.socket.pause();
      setTimeout(() => visitor.socket.resume(), debtMs);
      debtMs = 0;
    },
    onGone: () => (gone = true),
  });
  visitor.send(requestBytes({ scenario, path }));
  await pause(seconds * 1_000);
  const early = gone;
  visitor.leave();
  return { received, problem: early ? 'the stream ended early' : '' };
}

/** `{n}` in a path or a field becomes the number of the variant, always in the same width. */
function variant({ scenario, path, fields = {} }, index) {
  const number = String(index).padStart(6, '0');
  const named = (text) => text.replaceAll('{n}', number);
  const own = Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, named(value)]));
  return { scenario, path: named(path), fields: own };
}
