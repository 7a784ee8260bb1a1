import { setTimeout as pause } from 'node:timers/promises';
import { requestBytes, Visitor } from './visitor.mjs';

const STOP_MS = 5_000;
/** Shorter than the idle timeout of servers: Node closes a connection after five idle seconds. */
const MAX_REST_MS = 4_500;

const HIT = /\r\nx-cache: hit(?:\r|$)/i;

/** Visitors of one server with persistent connections. Each sends its next request as soon as a response is complete, until stopped. */
export class Crowd {
  #target;
  #scenario;
  #connections;
  #requests;
  #visitors = new Set();
  #fromCache;
  #state = { completed: 0, uncached: 0, wrong: 0, dropped: 0, problem: '' };
  #asked = 0;
  #busy = 0;
  #isAsking = false;
  #onRest = () => undefined;
  #restedAt = performance.now();

  /** `vary`: number of variants, requested in turn. `fromCache`: counts the responses that are not cache hits. */
  constructor({ target, scenario, path, connections, fields, body, vary = 1, fromCache = false }) {
    this.#fromCache = fromCache;
    this.#target = target;
    this.#scenario = scenario;
    this.#connections = connections;
    this.#requests = Array.from({ length: vary }, (_, index) =>
      requestBytes(variant({ scenario, path, fields, body }, index)),
    );
  }

  /** Connects every visitor that is not connected. */
  async gather() {
    if (performance.now() - this.#restedAt > MAX_REST_MS) this.leave();
    const newcomers = Array.from({ length: this.#connections - this.#visitors.size }, () => this.#arrive());
    await Promise.all(
      newcomers.map(({ socket }) => new Promise((resolve) => socket.once('connect', resolve).once('close', resolve))),
    );
  }

  ask() {
    this.#isAsking = true;
    for (const visitor of this.#visitors) this.#askOf(visitor);
    while (this.#visitors.size < this.#connections) this.#askOf(this.#arrive());
  }

  /** Waits for the open requests; returns the number that never complete. */
  async rest() {
    this.#isAsking = false;
    await Promise.race([
      new Promise((resolve) => {
        this.#onRest = resolve;
        this.#lookForRest();
      }),
      pause(STOP_MS, undefined, { ref: false }),
    ]);
    this.#restedAt = performance.now();
    return this.#busy;
  }

  leave() {
    for (const visitor of this.#visitors) visitor.leave();
    this.#visitors.clear();
  }

  count() {
    return { ...this.#state, at: performance.now() };
  }

  #arrive() {
    const visitor = new Visitor(this.#target, this.#scenario, {
      ...(this.#fromCache && { onHead: (head) => (this.#state.uncached += HIT.test(head) ? 0 : 1) }),
      onAnswer: (problem) => {
        if (problem === '') this.#state.completed += 1;
        else this.#fail('wrong', problem);
        this.#answered();
        if (this.#isAsking) this.#askOf(visitor);
      },
      onGone: (busy) => {
        this.#visitors.delete(visitor);
        if (busy) {
          this.#fail('dropped', 'the connection ended inside an exchange');
          this.#answered();
        }
        // A server may close a connection; the visitor then reconnects.
        if (this.#isAsking && this.#state.dropped < this.#connections * 20) {
          setTimeout(() => this.#isAsking && this.#askOf(this.#arrive()), busy ? 5 : 0);
        }
      },
    });
    this.#visitors.add(visitor);
    return visitor;
  }

  #askOf(visitor) {
    if (!visitor.isThere) return;
    this.#busy += 1;
    visitor.send(this.#requests[this.#asked++ % this.#requests.length]);
  }

  #answered() {
    this.#busy -= 1;
    this.#lookForRest();
  }

  #lookForRest() {
    if (!this.#isAsking && this.#busy === 0) this.#onRest();
  }

  #fail(kind, problem) {
    this.#state[kind] += 1;
    this.#state.problem ||= problem;
  }
}

/** `{n}` in a path or a field becomes the number of the variant, always in the same width. */
function variant({ scenario, path, fields = {}, body }, index) {
  const number = String(index).padStart(6, '0');
  const named = (text) => text.replaceAll('{n}', number);
  const own = Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, named(value)]));
  return { scenario, path: named(path), fields: own, body };
}
