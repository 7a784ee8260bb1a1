import { beforeEach, describe, expect, it } from 'vitest';
import { RawClient } from '../../support/raw-client.js';
import { type Reply, visit } from '../../support/visitor.js';
import type { Framework } from '../framework.js';
import { expectNothingLeaked, startWorld, type World, type WorldOptions } from '../world.js';

const MOUNT = '/api/a2a';
const CARD = `${MOUNT}/.well-known/agent-card.json`;

/** A site whose agent serves a card of the requested version at its well-known path. */
async function siteWithCard(framework: Framework, options?: WorldOptions): Promise<World> {
  const world = await startWorld(framework, options);
  world.upstream.willAnswer((exchange) => {
    const [version] = exchange.values('a2a-version');
    const address = `${world.upstream.origin}/agent/v1`;
    if (!exchange.request.target.endsWith('/.well-known/agent-card.json')) exchange.head(404).end();
    else if (version === undefined) exchange.json(200, { name: 'Agent', url: address });
    else {
      const offer = { url: address, protocolBinding: 'JSONRPC', protocolVersion: version };
      exchange.json(200, { name: 'Agent', supportedInterfaces: [offer] });
    }
  });
  return world;
}

/** Discovery by an A2A client that has only an address (A2A v1.0 §8.2). */
export function agentCardSuite(framework: Framework): void {
  describe('a client that starts from the address of the chat', () => {
    let world: World;
    const get = (path = CARD, headers: Record<string, string> = {}, method = 'GET'): Promise<Reply> =>
      visit(world.url, { method, path, headers });
    const onlySite = (path: string): string => `${world.url}${path}`;

    beforeEach(async () => {
      world = await siteWithCard(framework);
    });

    it.each(['agent-card.json', 'agent.json'])('finds a card that points back to that address as %s', async (name) => {
      const reply = await get(`${MOUNT}/.well-known/${name}`);
      expect(reply.status).toBe(200);
      expect(reply.headers).toMatchObject({
        'content-type': expect.stringMatching(/^application\/json/) as string,
        'cache-control': 'private, max-age=60',
        vary: expect.stringContaining('A2A-Version, Cookie') as string,
        etag: expect.stringMatching(/^(?:W\/)?"\w+"$/) as string,
      });
      const text = await reply.text();
      expect(JSON.parse(text)).toEqual({ name: 'Agent', url: onlySite(MOUNT), preferredTransport: 'JSONRPC' });
      expect(text).not.toContain(world.upstream.origin);
    });

    if (framework.refusesWholeTargets !== true)
      it('finds the card at a target that is a whole address, whose host counts', async () => {
        // Servers of Web standard hosts pass both on, and the field counts.
        const host = framework.isWebStandard === true ? new URL(world.url).host : 'other.example:8443';
        const client = await RawClient.connect(world.url);
        await client.send(`GET ${world.url}${CARD} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
        const text = await client.ending();
        expect([text.slice(0, 12), text]).toEqual([
          'HTTP/1.1 200',
          expect.stringContaining(`"url":"${onlySite(MOUNT)}"`),
        ]);
      });

    it('finds the card of its own version', async () => {
      for (const [path, headers] of [
        [CARD, { 'a2a-version': '1.0' }],
        [`${CARD}?A2A-Version=1.0`, {}],
      ] as const) {
        expect(await (await get(path, headers)).json()).toEqual({
          name: 'Agent',
          supportedInterfaces: [{ url: onlySite(MOUNT), protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
        });
      }
    });

    it('gets the head only for HEAD, and a 304 for its ETag', async () => {
      const head = await get(CARD, {}, 'HEAD');
      expect([head.status, await head.text()]).toEqual([200, '']);
      const again = await get(CARD, { 'if-none-match': String(head.headers.etag) });
      expect([again.status, await again.text()]).toEqual([304, '']);
    });

    it.each(['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])('gets a 405 with Allow for a %s', async (method) => {
      const reply = await get(CARD, {}, method);
      expect([reply.status, reply.headers.allow]).toEqual([405, 'GET, HEAD']);
      const text = await reply.text();
      expect(JSON.parse(text)).toMatchObject({ status: 405, code: 'method_not_allowed' });
      expectNothingLeaked(world, reply, text);
      expect(world.upstream.requests).toEqual([]);
    });
  });

  it('a client that starts from the root of the site finds the same card if the host mounts it there', async () => {
    const world = await siteWithCard(framework);
    const fields = { 'a2a-version': '1.0', 'x-forwarded-host': 'evil.example' };
    const read = async (path: string, method = 'GET') => {
      const reply = await visit(world.url, { method, path, headers: fields });
      const { etag, vary } = reply.headers;
      return { status: reply.status, etag, vary, text: await reply.text() };
    };
    const card = await read(CARD);
    expect([card.status, card.text]).toEqual([200, expect.stringContaining(`"url":"${world.url}${MOUNT}"`)]);
    expect(await read('/.well-known/agent-card.json')).toEqual(card);
    expect(await read('/.well-known/agent-card.json?x=1')).toEqual(card);
    expect(await read('/.well-known/agent-card.json', 'HEAD')).toEqual({ ...card, text: '' });
    expect((await read('/.well-known/other.json')).text).toBe('host');
  });

  it('behind a proxy, the card names the public address', async () => {
    const world = await siteWithCard(framework, { publicUrl: 'https://shop.example/eu' });
    const reply = await visit(world.url, { method: 'GET', path: CARD });
    expect(await reply.json()).toMatchObject({ url: `https://shop.example/eu${MOUNT}` });
  });
}
