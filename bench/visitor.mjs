import { connect } from 'node:net';
import { MessageReader } from './message-reader.mjs';
import { SCENARIOS } from './scenarios.mjs';

/** The header fields a browser sends for a scenario, and those in `fields`. */
export function requestFields(scenario, fields, body = SCENARIOS[scenario].body) {
  const { type } = SCENARIOS[scenario];
  return {
    'user-agent': 'Mozilla/5.0 (X11; Linux x86_64) Gecko/20100101 Firefox/146.0',
    accept: type,
    'accept-language': 'en-GB,en;q=0.5',
    'content-type': 'application/json',
    'content-length': body.length,
    'sec-fetch-site': 'same-origin',
    ...fields,
  };
}

/** The request of a scenario as HTTP/1.1. */
export function requestBytes({ scenario, path, fields, body = SCENARIOS[scenario].body }) {
  const all = Object.entries({ host: 'site.example', ...requestFields(scenario, fields, body) });
  const lines = [`POST ${path} HTTP/1.1`, ...all.map(([name, value]) => `${name}: ${value}`)];
  return Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`), Buffer.from(body)]);
}

/** One connection, with one request at a time. Compares every response with the scenario, byte by byte. */
export class Visitor {
  #socket;
  #expected;
  #seen = 0;
  #problem = '';
  #busy = false;
  #listener;

  /** Calls `onHead(head)`, `onAnswer(problem)`, `onBytes()` and `onGone(busy)` of `listener`. */
  constructor({ host, port }, scenario, listener) {
    this.#expected = SCENARIOS[scenario].answer;
    this.#listener = listener;
    const reader = new MessageReader({
      onHead: (head) => {
        this.#seen = 0;
        this.#listener.onHead?.(head);
        this.#problem = / 200(?: |$)/.test(head.slice(0, 13)) ? '' : `status: ${head.slice(0, head.indexOf('\r\n'))}`;
      },
      onData: (chunk) => this.#take(chunk),
      onEnd: () => this.#finish(),
    });
    this.#socket = connect({ host, port, noDelay: true });
    this.#socket.on('data', (data) => reader.push(data));
    this.#socket.on('error', () => undefined);
    this.#socket.on('close', () => {
      reader.close();
      const busy = this.#busy;
      this.#busy = false;
      this.#listener.onGone?.(busy);
    });
  }

  get socket() {
    return this.#socket;
  }

  get isThere() {
    return !this.#socket.destroyed;
  }

  send(request) {
    this.#busy = true;
    this.#socket.write(request);
  }

  leave() {
    this.#busy = false;
    this.#socket.destroy();
  }

  #take(chunk) {
    if (this.#problem === '') {
      const end = Math.min(this.#seen + chunk.length, this.#expected.length);
      const same = this.#expected.compare(chunk, 0, chunk.length, Math.min(this.#seen, end), end) === 0;
      if (!same) this.#problem = `other bytes: ${chunk.toString('latin1', 0, 80)}`;
    }
    this.#listener.onBytes?.();
    this.#seen += chunk.length;
  }

  #finish() {
    this.#busy = false;
    const { length } = this.#expected;
    if (this.#problem === '' && this.#seen !== length) this.#problem = `${this.#seen} bytes in place of ${length}`;
    this.#listener.onAnswer?.(this.#problem);
  }
}
