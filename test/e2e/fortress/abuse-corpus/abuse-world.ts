import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { createToolkit } from 'agent-bff';
import { FakeIdentityProvider } from 'agent-bff/testing';
import type { Framework } from '../../../site/framework.js';
import { signedIn } from '../../../site/world.js';
import { type Exchange, RecordingUpstream } from '../../../support/recording-upstream.js';
import type { Secrets } from './safety-rules.js';

/** A site under attack, its platform, and an address that must not be called. */
export interface AbuseWorld {
  readonly framework: Framework;
  readonly url: string;
  readonly upstream: RecordingUpstream;
  readonly canary: Canary;
  readonly secrets: Secrets;
  /** Advances the clock, so that cached values from earlier cases expire. */
  later(): void;
  close(): Promise<void>;
}

/** Listens on an address that only a deceived forwarder calls. */
type Canary = Awaited<ReturnType<typeof startCanary>>;

export async function startAbuseWorld(framework: Framework): Promise<AbuseWorld> {
  let passedMs = 0;
  const clock = { now: () => Date.now() + passedMs };
  const upstream = await RecordingUpstream.start();
  const canary = await startCanary();
  const toolkit = createToolkit(
    {
      a2aUrl: `${upstream.origin}/agent/v1`,
      serviceApiUrl: `${upstream.origin}/platform/v1`,
      serviceAuthStrategy: 'demo',
      serviceApiKey: 'the-api-key',
      publicUrl: 'https://site.example',
      keepAliveMs: 0,
    },
    {
      identityProviders: { demo: new FakeIdentityProvider('visitor-service') },
      clock,
      random: () => 0,
    },
  );
  const site = await framework.start({ toolkit, auth: signedIn, cache: { enabled: true, freshMs: 600_000 } });
  const { host } = new URL(upstream.origin);
  return {
    framework,
    url: site.url,
    upstream,
    canary,
    secrets: {
      upstreamHost: host,
      apiKey: 'the-api-key',
      texts: [
        host,
        ...'the-api-key visitor-service token-of- /agent/v1 /platform/v1 ECONN UND_ERR'.split(' '),
        // The host shows its parser's errors, and Express includes the stack outside production.
        ...(framework.parsesJson ? [] : ['node_modules']),
      ],
    },
    later: () => {
      passedMs += 2_000;
    },
    close: async () => {
      await site.close();
      await upstream.close();
      await toolkit.close();
      await canary.close();
    },
  };
}

/** A working platform that names the user of a request without the credential. */
export function healthy(exchange: Exchange): void {
  const { target, body } = exchange.request;
  if (target.split('?', 1)[0]?.endsWith('theme.css') === true) {
    exchange.head(200, { 'content-type': 'text/css' }).end('a{color:red}');
    return;
  }
  const bearer = exchange.values('authorization').join();
  const user = /token-of-(\w+)/.exec(bearer)?.[1] ?? (bearer === '' ? 'key' : 'service');
  const place = target.replace(/^\/(?:agent|platform)\/v1/, '');
  exchange.json(200, { jsonrpc: '2.0', id: idOf(body), result: { for: user, place } });
}

function idOf(body: Buffer): unknown {
  try {
    return (JSON.parse(body.toString()) as { id?: unknown } | null)?.id ?? null;
  } catch {
    return null;
  }
}

async function startCanary() {
  let visits = 0;
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    visits += 1;
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.end('HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 16\r\n\r\n{"canary": true}');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    /** Host and port. */
    address: `127.0.0.1:${String((server.address() as AddressInfo).port)}`,
    visits: () => visits,
    close: async () => {
      server.close();
      for (const socket of sockets) socket.destroy();
      await once(server, 'close');
    },
  };
}
