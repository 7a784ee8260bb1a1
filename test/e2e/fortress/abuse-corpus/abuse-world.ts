import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { createToolkit, type SessionToken, type Toolkit, type ToolkitPorts } from 'agent-bff';
import { FakeIdentityProvider } from 'agent-bff/testing';
import type { Framework } from '../../../site/framework.js';
import { type Exchange, RecordingUpstream } from '../../../support/recording-upstream.js';
import type { Secrets } from './safety-rules.js';

/** A site under attack: its platform, and an address that nobody may call. */
export interface AbuseWorld {
  readonly framework: Framework;
  readonly url: string;
  readonly upstream: RecordingUpstream;
  readonly canary: Canary;
  readonly secrets: Secrets;
  /** Lets time pass, so that nothing a stranger chose is still remembered. */
  later(): void;
  close(): Promise<void>;
}

/** Changes of a site on its way up, for sites that are broken on purpose. */
export interface Tampering {
  readonly toolkit?: (toolkit: Toolkit) => Toolkit;
  readonly ports?: ToolkitPorts;
}

/** Listens where a forwarder only comes that was led astray. */
export interface Canary {
  /** Host and port. */
  readonly address: string;
  readonly visits: () => number;
  close(): Promise<void>;
}

export async function startAbuseWorld(framework: Framework, tampering: Tampering = {}): Promise<AbuseWorld> {
  let passedMs = 0;
  const clock = { now: () => Date.now() + passedMs };
  const upstream = await RecordingUpstream.start();
  const canary = await startCanary();
  const made = createToolkit(
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
      ...tampering.ports,
    },
  );
  const toolkit = tampering.toolkit?.(made) ?? made;
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
        // A parser's errors are the host's to show, and Express shows their stack outside production.
        ...(framework.parsesJson ? [] : ['node_modules']),
      ],
    },
    later: () => {
      passedMs += 2_000;
    },
    close: async () => {
      await site.close();
      await upstream.close();
      await made.close();
      await canary.close();
    },
  };
}

/** A platform that works, and tells for whom without telling the credential. */
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

/** What the site's session library would say: whoever the cookie names, from a Node or a Web request. */
function signedIn(request: unknown): SessionToken | null {
  const { headers } = request as { headers: { cookie?: string } | Headers };
  const cookie = headers instanceof Headers ? headers.get('cookie') : headers.cookie;
  const name = /(?:^|; )session=(\w+)/.exec(cookie ?? '')?.[1];
  return name === undefined ? null : { kind: 'token', accessToken: `token-of-${name}`, subject: `site|${name}` };
}

async function startCanary(): Promise<Canary> {
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
    address: `127.0.0.1:${String((server.address() as AddressInfo).port)}`,
    visits: () => visits,
    close: async () => {
      server.close();
      for (const socket of sockets) socket.destroy();
      await once(server, 'close');
    },
  };
}
