import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { jwtVerify } from 'jose';
import { listening } from '../support/listening.mjs';

/** A site replaces a rejected token, but not again within half a minute of its clock. */
const TOKEN_USE_MS = 3_000;

/** One event of a stream. Both ends create it from the same facts, so that a byte of another visitor's stream is noticed. */
export function eventText({ id, nonce, who }, index) {
  return `id: ${index}\ndata: ${JSON.stringify({ jsonrpc: '2.0', id, result: { nonce, who, index } })}\n\n`;
}

/** Serves chat streams, records and widgets, and fails on request. Accepts signed service tokens until they expire. */
export class SoakPlatform {
  origin;
  refusedTokens = 0;
  /** Accepted service tokens. */
  tokens = new Set();
  #server = createServer((incoming, response) => void this.#receive(incoming, response));
  #revoked = new Set();
  #versions = new Map();
  #newestAt = 0;
  #streams = new Set();
  #publicKey;
  #now;

  /** `now`: the clock for the lifetimes of tokens. */
  static async start({ publicKey, now }) {
    const platform = new SoakPlatform();
    platform.#publicKey = publicKey;
    platform.#now = now;
    const server = platform.#server;
    // Only faults end connections. Resending on a connection that idled out is tested elsewhere.
    server.keepAliveTimeout = 120_000;
    platform.origin = await listening(server, 1_024);
    return platform;
  }

  /** Streams that still have a reader. */
  openStreams() {
    return [...this.#streams].filter(({ socket }) => socket?.destroyed === false).length;
  }

  /** Connections of the site, including idle ones. */
  connections() {
    return new Promise((resolve, reject) => {
      this.#server.getConnections((error, count) => (error ? reject(error) : resolve(count)));
    });
  }

  /** Rejects every token accepted so far, except one that has just come into use: sites do not renew endlessly. */
  revokeTokens() {
    if (performance.now() - this.#newestAt < TOKEN_USE_MS) return false;
    this.#revoked = new Set(this.tokens);
    return true;
  }

  close() {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  async #receive(incoming, response) {
    response.on('error', () => undefined);
    const chunks = [];
    try {
      for await (const chunk of incoming) chunks.push(chunk);
    } catch {
      return; // Aborted in mid-upload.
    }
    const body = Buffer.concat(chunks);
    const target = new URL(incoming.url, 'http://platform.example');
    const who = await this.#caller(incoming.headers.authorization ?? '');
    if (who === undefined) {
      this.refusedTokens += 1;
      // Sites allow for a clock that differs from the platform's date.
      const date = new Date(this.#now()).toUTCString();
      response.writeHead(401, { 'content-type': 'application/json', date }).end('{"error":"token refused"}');
      return;
    }
    if (target.pathname === '/a2a') return this.#stream(JSON.parse(body), who, response);
    if (hasFailed(target.searchParams.get('fault'), response)) return;
    if (target.pathname.startsWith('/api/surfaces/')) return this.#widget(incoming, target, who, response);
    const nonce = target.pathname.split('/').at(-1);
    const sha256 = createHash('sha256').update(body).digest('hex');
    sendJson(response, { nonce, who, sha256 });
  }

  /** The caller of a token; `undefined` when it is rejected. */
  async #caller(authorization) {
    const token = authorization.replace(/^Bearer /, '');
    const [, user] = /^(user\d+)\.\d+$/.exec(token) ?? [];
    if (user !== undefined) return user;
    if (this.#revoked.has(token)) return undefined;
    try {
      await jwtVerify(token, this.#publicKey, {
        audience: 'platform',
        issuer: 'site',
        currentDate: new Date(this.#now()),
      });
    } catch {
      return undefined;
    }
    if (!this.tokens.has(token)) this.#newestAt = performance.now();
    this.tokens.add(token);
    return 'service';
  }

  async #stream({ id, params: { nonce, events, pauseMs, fault, at } }, who, response) {
    if (response.closed) return;
    this.#streams.add(response);
    response.once('close', () => this.#streams.delete(response));
    if (at === undefined && hasFailed(fault, response)) return;
    response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
    for (let index = 0; index < events; index += 1) {
      const text = eventText({ id, nonce, who }, index);
      if (index === at) return breakOff(fault, response, text);
      if (response.closed) return;
      response.write(text);
      if (pauseMs > 0) await pause(pauseMs);
    }
    response.end();
  }

  #widget(incoming, { pathname }, who, response) {
    const [, , , widget, operation] = pathname.split('/');
    const key = `${who} ${widget}`;
    const version = (this.#versions.get(key) ?? 0) + (operation === 'actions' ? 1 : 0);
    this.#versions.set(key, version);
    const etag = `"${key}-${version}"`.replaceAll(' ', '-');
    if (operation === 'theme.css') {
      response.writeHead(200, { 'content-type': 'text/css' }).end(`:root{--owner:"${key}"}`);
    } else if (operation === undefined && incoming.headers['if-none-match'] === etag) {
      response.writeHead(304, { etag }).end();
    } else sendJson(response, { surface: { id: widget }, who, widget, version }, { etag });
  }
}

function sendJson(response, value, headers = {}) {
  response.writeHead(200, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(value));
}

/** Sends a wrong response or none; returns false without a fault. */
function hasFailed(fault, response) {
  if (!fault) return false;
  if (fault === 'reset') response.socket.resetAndDestroy();
  else if (fault === 'cut') response.socket.destroy();
  else if (fault === '5xx')
    response.writeHead(503, { 'content-type': 'text/plain' }).end('out of order: Bearer secret');
  else if (fault === 'garbage') response.socket.end('SOAK 9.9 no HTTP at all\r\n\r\n');
  // 'stall': never sends anything more.
  return true;
}

/** Breaks a stream, every second time inside an event. */
function breakOff(fault, response, text) {
  if (text.length % 2 === 0) response.write(text.slice(0, text.length / 2));
  setImmediate(() => {
    if (fault === 'reset') response.socket?.resetAndDestroy();
    else if (fault === 'garbage') response.socket?.end('zzz no chunk\r\n\r\n');
    else if (fault !== 'stall') response.socket?.end();
  });
}
