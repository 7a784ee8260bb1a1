import { connect, constants } from 'node:http2';
import { SCENARIOS } from './scenarios.mjs';

const STREAMS_PER_CONNECTION = 100;

/** Connections that visitors share, so many to each. */
export class Http2Connections {
  #target;
  #session;
  #streams = 0;

  constructor(target) {
    this.#target = target;
  }

  /** The one the next visitor takes. */
  next() {
    if (this.#streams % STREAMS_PER_CONNECTION === 0) {
      const { host, port } = this.#target;
      this.#session = connect(`http://${host}:${port}`);
      this.#session.on('error', () => undefined);
    }
    this.#streams += 1;
    return this.#session;
  }
}

/** One request on a stream of its own. What comes is compared with what the scenario promises, byte by byte. */
export class Http2Visitor {
  #session;
  #scenario;
  #listener;
  #stream;
  #seen = 0;
  #problem = '';

  /** `listener` is told `onAnswer(problem)`, `onBytes(chunk, seen)` and `onGone()`. */
  constructor(session, scenario, listener) {
    this.#session = session;
    this.#scenario = SCENARIOS[scenario];
    this.#listener = listener;
  }

  get isThere() {
    return this.#stream?.destroyed === false;
  }

  send({ path, fields = {} }) {
    const { body, type } = this.#scenario;
    this.#stream = this.#session.request({
      ':method': 'POST',
      ':path': path,
      ':authority': 'site.example',
      'user-agent': 'Mozilla/5.0 (X11; Linux x86_64) Gecko/20100101 Firefox/146.0',
      accept: type,
      'accept-language': 'en-GB,en;q=0.5',
      'content-type': 'application/json',
      'content-length': body.length,
      'sec-fetch-site': 'same-origin',
      ...fields,
    });
    this.#stream.on('response', ({ ':status': status }) => {
      if (status !== 200) this.#problem = `status: ${status}`;
    });
    this.#stream.on('data', (chunk) => this.#take(chunk));
    this.#stream.on('end', () => this.#listener.onAnswer?.(this.#problem));
    this.#stream.on('error', () => undefined);
    this.#stream.on('close', () => this.#listener.onGone?.());
    this.#stream.end(body);
  }

  /** The connection goes with its last stream. */
  leave() {
    this.#stream.close(constants.NGHTTP2_CANCEL);
    this.#session.close();
  }

  #take(chunk) {
    const expected = this.#scenario.answer.subarray(this.#seen, this.#seen + chunk.length);
    if (!expected.equals(chunk)) this.#problem ||= `other bytes: ${chunk.toString('latin1', 0, 80)}`;
    this.#listener.onBytes?.(chunk, this.#seen);
    this.#seen += chunk.length;
  }
}
