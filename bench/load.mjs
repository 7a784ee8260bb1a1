// The visitors of the benchmark, in their own process. They keep their connections, check every response and count.
import { connect, constants } from 'node:http2';
import { setTimeout as pause } from 'node:timers/promises';
import { Crowd } from './crowd.mjs';
import { answerQuestions } from './process.mjs';
import { SCENARIOS } from './scenarios.mjs';
import { requestBytes, requestFields, Visitor } from './visitor.mjs';

const ARRIVALS_AT_ONCE = 100;
const STREAMS_PER_CONNECTION = 100;
const STUCK_MS = 30_000;

/** By the name of the server they visit. */
const crowds = new Map();
const held = [];

answerQuestions(
  {},
  {
    /** Connects the visitors of one server; those of other servers keep their connections. */
    gather: ({ crowd: name, ...ask }) => crowdOf(name, ask).gather(),
    slice,
    start: ({ crowd: name, ...ask }) => crowdOf(name, ask).ask(),
    count: ({ crowd: name }) => crowds.get(name).count(),
    stop,
    once,
    hold,
    release: () => held.splice(0).forEach((visitor) => visitor.leave()),
  },
);

function crowdOf(name, ask) {
  if (!crowds.has(name)) crowds.set(name, new Crowd(ask));
  return crowds.get(name);
}

/** Lets a crowd send requests for `ms` milliseconds, then waits for their responses. */
async function slice({ crowd: name, ms }) {
  const crowd = crowds.get(name);
  const before = crowd.count();
  crowd.ask();
  await pause(ms);
  const stuck = await crowd.rest();
  const after = crowd.count();
  const missed = after.uncached - before.uncached;
  return { ...after, completed: after.completed - before.completed, missed, elapsedMs: after.at - before.at, stuck };
}

/** Waits for the last responses, then disconnects all visitors. */
async function stop({ crowd: name }) {
  const crowd = crowds.get(name);
  crowds.delete(name);
  const stuck = await crowd.rest();
  crowd.leave();
  return { ...crowd.count(), stuck };
}

/** One request of one visitor, on a new connection. */
function once({ target, scenario, path, fields, body }) {
  return new Promise((resolve) => {
    const visitor = new Visitor(target, scenario, {
      onAnswer: (problem) => {
        resolve({ problem });
        visitor.leave();
      },
      onGone: () => resolve({ problem: 'the connection ended inside an exchange' }),
    });
    setTimeout(() => resolve({ problem: 'no answer' }), STUCK_MS).unref();
    visitor.send(requestBytes({ scenario, path, fields, body }));
  });
}

/** Visitors who each hold a stream open after its first event: on one connection each, or over HTTP/2 on shared ones. */
async function hold({ connections, http2 = false, ...ask }) {
  let session;
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
        onAnswer: (trouble) => begun(trouble || 'a stream ended'),
        onGone: () => begun('a connection ended'),
      };
      if (http2 && held.length % STREAMS_PER_CONNECTION === 0) session = http2Session(ask.target);
      held.push(http2 ? http2Visitor(session, ask, listener) : http1Visitor(ask, listener));
    });
  for (let left = connections; left > 0 && problem === ''; left -= ARRIVALS_AT_ONCE) {
    await Promise.all(Array.from({ length: Math.min(left, ARRIVALS_AT_ONCE) }, arrive));
  }
  return { held: held.filter(({ isThere }) => isThere).length, problem };
}

function http1Visitor({ target, scenario, ...ask }, listener) {
  const visitor = new Visitor(target, scenario, listener);
  visitor.send(requestBytes({ scenario, ...ask }));
  return visitor;
}

function http2Session({ host, port }) {
  return connect(`http://${host}:${port}`).on('error', () => undefined);
}

/** One request on its own stream; compares the bytes of its response with the scenario. */
function http2Visitor(session, { scenario, path, fields }, { onBytes, onAnswer, onGone }) {
  const { body, answer } = SCENARIOS[scenario];
  const head = { ':method': 'POST', ':path': path, ':authority': 'site.example', ...requestFields(scenario, fields) };
  const stream = session.request(head);
  let seen = 0;
  stream.on('response', ({ ':status': status }) => {
    if (status !== 200) onAnswer(`status: ${status}`);
  });
  stream.on('data', (chunk) => {
    const isExpected = answer.subarray(seen, seen + chunk.length).equals(chunk);
    seen += chunk.length;
    if (isExpected) onBytes();
    else onAnswer('other bytes');
  });
  stream.on('end', () => onAnswer()).on('error', () => undefined);
  stream.on('close', onGone);
  stream.end(body);
  return {
    get isThere() {
      return !stream.destroyed;
    },
    // The connection closes with its last stream.
    leave: () => {
      stream.close(constants.NGHTTP2_CANCEL);
      session.close();
    },
  };
}
