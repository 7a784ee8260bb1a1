import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import type { HostMiddleware } from '../../site/framework.js';
import type { World } from '../../site/world.js';
import { RawClient } from '../../support/raw-client.js';
import type { Exchange } from '../../support/recording-upstream.js';
import { ACTION, CHAT, expectFailure, expectHealthy, HOSTS, RECORD, RENDER, type Road, startSite } from './roads.js';

const CACHE = { cache: { enabled: true } };

/** An answer of the platform that has begun, and that a visitor is reading. */
async function begun(world: World, road: Road, headers: Record<string, string> = {}) {
  world.upstream.willWait();
  const pending = world.chat(road.visit);
  const exchange = await world.upstream.next();
  exchange.head(200, { 'content-type': 'application/json', ...headers }).write('{"half":');
  const reply = await pending;
  await reply.until('half');
  return { exchange, reply };
}

const BREAKS: readonly (readonly [string, (exchange: Exchange) => unknown])[] = [
  ['resets the connection', (exchange) => exchange.reset()],
  ['closes the connection', (exchange) => exchange.fin()],
  ['sends a bad chunk', (exchange) => exchange.raw('zz\r\nnonsense')],
  ['falls silent', () => undefined],
];

describe.each(HOSTS)('through $name,', (host) => {
  describe.each([CHAT, RENDER, ACTION, RECORD])('$name whose answer has begun, from a platform that', (road) => {
    it.each(BREAKS)('%s is cut, and never looks finished', async (_how, breakIt) => {
      const world = await startSite(host, { timeouts: { bodyIdleMs: 300 } });
      const { exchange, reply } = await begun(world, road);
      breakIt(exchange);
      const { clean, bytes } = await reply.ending();
      expect({ clean, text: bytes.toString() }).toEqual({ clean: false, text: '{"half":' });
      expect(world.telemetry.of('stream_broken')).toMatchObject([{ side: 'upstream' }]);
      expect(world.upstream.requests).toHaveLength(1);
      await expectHealthy(world, road);
    });

    it('sends less than it said is cut', async () => {
      const world = await startSite(host);
      const { exchange, reply } = await begun(world, road, { 'content-length': '1000' });
      exchange.fin();
      expect(await reply.ending()).toMatchObject({ clean: false });
      await expectHealthy(world, road);
    });
  });

  it.each([CHAT, RENDER])('$name whose answer drips for ever is cut', async (road) => {
    const world = await startSite(host, { timeouts: { bodyMs: 300 } });
    const { exchange, reply } = await begun(world, road);
    const drip = setInterval(() => exchange.write(' '), 20);
    expect(await reply.ending()).toMatchObject({ clean: false });
    clearInterval(drip);
    await exchange.closed;
    await expectHealthy(world, road);
  });

  it('a record that comes slowly may take longer than any other answer', async () => {
    const world = await startSite(host, { timeouts: { bodyMs: 100 } });
    const { exchange, reply } = await begun(world, RECORD);
    let dripped = 0;
    const drip = setInterval(() => {
      exchange.write(' ');
      if ((dripped += 1) < 20) return;
      clearInterval(drip);
      exchange.end('1}');
    }, 20);
    expect(await reply.text()).toBe(`{"half":${' '.repeat(20)}1}`);
  });

  it.each(BREAKS)('a render that many wait for and that %s is kept by nobody', async (_how, breakIt) => {
    const world = await startSite(host, { ...CACHE, timeouts: { bodyIdleMs: 300 } });
    world.upstream.willWait();
    const pending = [world.chat(RENDER.visit), world.chat(RENDER.visit)];
    const first = await world.upstream.next();
    const rendered = { 'content-type': 'application/json' };
    first.head(200, rendered).write('{"half":');
    breakIt(first);
    // What broke may have had one reader at most; whoever else waited asks for himself.
    world.upstream.willAnswer((exchange) => exchange.head(200, rendered).end('{"whole":1}'));
    const endings = await Promise.all(pending.map(async (reply) => (await reply).ending()));
    for (const { clean, bytes } of endings) expect(clean).toBe(bytes.toString() === '{"whole":1}');
    expect(await (await world.chat(RENDER.visit)).text()).toBe('{"whole":1}');
  });

  it('a render whose end nobody can tell is served, and not kept', async () => {
    const world = await startSite(host, CACHE);
    const answers = ['<p>cut', '<p>whole</p>'];
    world.upstream.willAnswer((exchange) => {
      exchange
        .raw(`HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\nconnection: close\r\n\r\n${answers.shift() ?? ''}`)
        .fin();
    });
    expect(await (await world.chat(RENDER.visit)).text()).toBe('<p>cut');
    expect(await (await world.chat(RENDER.visit)).text()).toBe('<p>whole</p>');
  });

  it('a JSON answer without a length that was cut is cut for the browser too', async () => {
    const world = await startSite(host);
    world.upstream.willAnswer((exchange) => {
      const head = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n\r\n';
      exchange.raw(`${head}{"jsonrpc":"2.0","result":{`).fin();
    });
    expect(await (await world.chat(CHAT.visit)).ending()).toMatchObject({ clean: false });
    await expectHealthy(world, CHAT);
  });

  it('a bomb that the platform compressed unasked passes as it is', async () => {
    const world = await startSite(host, CACHE);
    const bytes = gzipSync(Buffer.alloc(16 * 1_048_576));
    const headers = { 'content-type': 'application/json', 'content-encoding': 'gzip' };
    world.upstream.willAnswer((exchange) => exchange.head(200, headers).end(bytes));
    for (const road of [CHAT, RECORD, RENDER]) {
      const reply = await world.chat(road.visit);
      expect(reply.headers['content-encoding']).toBe('gzip');
      expect((await reply.ending()).bytes.equals(bytes)).toBe(true);
    }
    await expectHealthy(world, CHAT);
  });

  it.each([CHAT, RECORD, RENDER])('$name of a thousand layers is refused', async (road) => {
    const world = await startSite(host, CACHE);
    const coding = Array.from({ length: 1_000 }, () => 'gzip').join(', ');
    const headers = { 'content-type': 'application/json', 'content-encoding': coding };
    world.upstream.willAnswer((exchange) => exchange.head(200, headers).end('x'));
    await expectFailure(world, road, { status: 502, code: 'upstream_invalid_response', attempts: 1 });
  });

  it.each([CHAT, RENDER, RECORD])(
    'a browser that leaves before $name is answered takes its request along',
    async (road) => {
      const world = await startSite(host);
      world.upstream.willWait();
      const visit = world.start(road.visit);
      const exchange = await world.upstream.next();
      visit.leave();
      await exchange.closed;
      expect(exchange.aborted).toBe(true);
      await expectHealthy(world, road);
    },
  );

  it('a browser that stops reading is ended by the timeout of the host, and its platform with it', async () => {
    // What `server.timeout` does to each connection.
    const before: HostMiddleware = (request, _response, next) => {
      request.socket.setTimeout(300);
      next();
    };
    const world = await startSite(host, { before });
    world.upstream.willWait();
    const browser = await RawClient.connect(world.url);
    await browser.send(`GET ${RECORD.visit.path ?? ''} HTTP/1.1\r\nhost: site\r\ncookie: session=ada\r\n\r\n`);
    browser.socket.pause();
    const exchange = await world.upstream.next();
    exchange.head(200, { 'content-type': 'application/json' }).write(new Uint8Array(32 * 1_048_576));
    await exchange.closed;
    expect(exchange.aborted).toBe(true);
    browser.close();
    await expectHealthy(world, RECORD);
  });
});
