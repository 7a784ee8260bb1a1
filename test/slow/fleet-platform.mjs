import { randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import { listening } from '../support/listening.mjs';

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

export const usersOf = (count) => Array.from({ length: count }, (_, index) => `user${index}`);

export const shuffled = (list) =>
  list
    .map((value) => [Math.random(), value])
    .sort(([a], [b]) => a - b)
    .map(([, value]) => value);

/** Counts its calls; its content is the number of actions of a user. */
export class Platform {
  /** Milliseconds of a render. */
  renderMs = 20;
  /** Milliseconds of a token request or an exchange. */
  tokenMs = 100;
  /** True while no token is issued. */
  isRefusing = false;
  calls = { render: 0, check: 0, action: 0, token: 0, exchange: 0 };
  #acted = new Map();

  async start() {
    this.server = createServer((request, response) => void this.#answer(request, response));
    this.url = await listening(this.server);
    return this;
  }

  reset() {
    for (const name of Object.keys(this.calls)) this.calls[name] = 0;
  }

  async #answer(request, response) {
    const { url, method } = request;
    const body = (await request.toArray()).join('');
    const kind =
      url === '/token'
        ? 'token'
        : url === '/exchange'
          ? 'exchange'
          : url.includes('/actions/')
            ? 'action'
            : method === 'GET'
              ? 'check'
              : 'render';
    this.calls[kind] += 1;
    const user = String(request.headers.authorization);
    if (kind === 'action') this.#acted.set(user, (this.#acted.get(user) ?? 0) + 1);
    const acted = this.#acted.get(user) ?? 0;
    const isToken = kind === 'token' || kind === 'exchange';
    await pause(isToken ? this.tokenMs : kind === 'render' ? this.renderMs : 20);
    if (isToken && this.isRefusing) return void response.writeHead(401).end();
    if (kind === 'check') return void response.writeHead(304, { etag: '"1"' }).end();
    const name = url.split('/').find((part) => part.startsWith('w')) ?? 'w';
    const surface = { id: name, name: `name of ${name}` };
    // Not shared by caches.
    const cookie = name.startsWith('wc') ? { 'set-cookie': 'a=b' } : {};
    response.writeHead(200, { 'content-type': 'application/json', etag: '"1"', ...cookie });
    if (isToken)
      return void response.end(JSON.stringify({ value: `t${randomBytes(8).toString('hex')}`, lifeMs: 20_000 }));
    response.end(JSON.stringify({ surface, acted, filler: body.length > 1_000 ? body : 'x'.repeat(1_200) }));
  }
}
