// Child processes that respond to messages: the upstream, the load, and each rival.
import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const MAX_START_MS = 60_000;
/** A server that waits for its turn is not idle. V8 would otherwise shrink its heap and flush its code. */
const NOT_IDLE = ['--no-memory-reducer', '--no-flush-bytecode'];

/**
 * Starts a file of this folder and resolves with the facts it sends.
 *
 * @throws Error with the last output of the process, when it ends before that.
 */
export async function startProcess(file, options = {}, { gc = false, execArgv = [], cwd } = {}) {
  const child = fork(fileURLToPath(new URL(file, import.meta.url)), [JSON.stringify(options)], {
    execArgv: [...NOT_IDLE, ...(gc ? ['--expose-gc'] : []), ...execArgv],
    env: { ...process.env, NODE_ENV: 'production' },
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    cwd,
  });
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text) => (said = (said + text).slice(-4_000)));
  const waiting = new Map();
  let ended = false;
  child.once('exit', () => {
    ended = true;
    for (const { reject } of waiting.values()) reject(new Error(`${file} ended: ${lastLines(said)}`));
  });
  const facts = await new Promise((resolve, reject) => {
    const timer = setTimeout(() => child.kill('SIGKILL'), MAX_START_MS);
    child.once('error', reject);
    child.once('exit', () => reject(new Error(`${file} did not start: ${lastLines(said)}`)));
    child.once('message', (message) => {
      clearTimeout(timer);
      resolve(message.facts);
    });
  });
  child.on('message', ({ id, answer, error }) => {
    const asked = waiting.get(id);
    waiting.delete(id);
    if (error === undefined) asked?.resolve(answer);
    else asked?.reject(new Error(error));
  });
  let next = 0;
  return {
    facts,
    ask: (question, input) =>
      new Promise((resolve, reject) => {
        if (ended) throw new Error(`${file} has ended: ${lastLines(said)}`);
        next += 1;
        waiting.set(next, { resolve, reject });
        child.send({ id: next, question, input });
      }),
    close: () =>
      new Promise((resolve) => {
        if (ended) {
          resolve();
          return;
        }
        child.once('exit', resolve);
        child.disconnect();
        setTimeout(() => child.kill('SIGKILL'), 3_000).unref();
      }),
  };
}

/** In the process: sends its facts and responds to messages until its parent exits. */
export function answerQuestions(facts, answers) {
  process.on('message', ({ id, question, input }) => {
    Promise.resolve()
      .then(() => answers[question](input))
      .then((answer) => process.send?.({ id, answer }))
      .catch((error) => process.send?.({ id, error: String(error?.message ?? error) }));
  });
  process.on('disconnect', () => process.exit(0));
  process.send?.({ facts });
}

/** In the process: the options it was started with. */
export const options = JSON.parse(process.argv[2]?.startsWith('{') ? process.argv[2] : '{}');

function lastLines(text) {
  const lines = text.trim().split('\n');
  const error = lines.find((line) => /^\w*Error\b/.test(line));
  return error ?? lines.slice(-3).join(' ');
}
