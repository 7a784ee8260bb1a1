import {
  createToolkit,
  type RenderCacheOptions,
  type ServerConfig,
  type SessionToken,
  type SessionTokenFunction,
  type Toolkit,
} from 'agent-bff';
import { FakeIdentityProvider, RecordingTelemetry } from 'agent-bff/testing';
import { expect, onTestFinished } from 'vitest';
import { RecordingUpstream } from '../support/recording-upstream.js';
import { type Reply, startVisit, type Visit, visit, type VisitOptions } from '../support/visitor.js';
import type { Framework, HostMiddleware } from './framework.js';

/** A site, the agent behind it, and the observations of a test. */
export interface World {
  readonly url: string;
  readonly upstream: RecordingUpstream;
  readonly provider: FakeIdentityProvider;
  readonly telemetry: RecordingTelemetry;
  readonly toolkit: Toolkit;
  /** Sends a chat message, changed by `options`. */
  chat(options?: VisitOptions): Promise<Reply>;
  start(options?: VisitOptions): Visit;
}

/** Changes to a site with a working credential and agent. */
export interface WorldOptions extends Omit<ServerConfig, 'telemetry'> {
  readonly before?: HostMiddleware;
  readonly cache?: RenderCacheOptions;
  /** The user who is signed in. Default: the one the cookie names. */
  readonly auth?: SessionTokenFunction;
}

/** Starts a site of this framework and its agent. Both are closed after the test. */
export async function startWorld(framework: Framework, options: WorldOptions = {}): Promise<World> {
  const { before, cache, auth = signedIn, ...config } = options;
  const upstream = await RecordingUpstream.start();
  const provider = new FakeIdentityProvider('visitor-service');
  const telemetry = new RecordingTelemetry();
  const toolkit = createToolkit(
    {
      a2aUrl: `${upstream.origin}/agent/v1`,
      conversations: 'open',
      serviceApiUrl: `${upstream.origin}/platform/v1`,
      serviceAuthStrategy: 'demo',
      serviceApiKey: 'the-api-key',
      keepAliveMs: 0,
      ...config,
    },
    { identityProviders: { demo: provider }, telemetry, random: () => 0 },
  );
  const site = await framework.start({
    toolkit,
    auth,
    ...(before === undefined ? {} : { before }),
    ...(cache === undefined ? {} : { cache }),
  });
  onTestFinished(async () => {
    await site.close();
    await upstream.close();
    await toolkit.close();
  });
  return {
    url: site.url,
    upstream,
    provider,
    telemetry,
    toolkit,
    chat: (visitOptions) => visit(site.url, visitOptions),
    start: (visitOptions) => startVisit(site.url, visitOptions),
  };
}

/** The cookie of a visitor who is signed in; their token upstream is `token-of-<name>`. */
export function session(name: string): { readonly cookie: string } {
  return { cookie: `session=${name}` };
}

/** A session library: the user named by the cookie of a Node or Web request. */
export function signedIn(request: unknown): SessionToken | null {
  const { headers } = request as { headers: { cookie?: string } | Headers };
  const cookie = headers instanceof Headers ? headers.get('cookie') : headers.cookie;
  const name = /(?:^|; )session=(\w+)/.exec(cookie ?? '')?.[1];
  return name === undefined ? null : { kind: 'token', accessToken: `token-of-${name}`, subject: `site|${name}` };
}

/** Opens a stream. Returns the visitor's end and the agent's. */
export async function openStream(
  world: World,
  headers: Record<string, string> = {},
  sent: Record<string, string> = {},
) {
  world.upstream.willWait();
  const pending = world.chat({ headers: sent });
  const exchange = await world.upstream.next();
  exchange.eventStream(headers);
  return { exchange, reply: await pending };
}

/** Expects the next request to work after a broken exchange. */
export async function expectNextRequestWorks(world: World): Promise<void> {
  world.upstream.willAnswerAgain();
  const reply = await world.chat();
  expect(reply.status).toBe(200);
  expect(await reply.json()).toEqual({ jsonrpc: '2.0', id: 7, result: { id: 'task-1' } });
}

/** Expects that the response does not expose anything behind the site. */
export function expectNothingLeaked(world: World, reply: Reply, text: string): void {
  const visible = text + JSON.stringify(reply.headers);
  const { host, port } = new URL(world.upstream.origin);
  const forbidden = [host, `:${port}`, '127.0.0.1', '/agent', 'visitor-service', 'token-1', 'the-api-key'];
  for (const secret of [...forbidden, 'ECONN', 'UND_ERR', 'undici', 'node_modules', '    at ']) {
    expect(visible).not.toContain(secret);
  }
}

/** An error of the chat route, as an A2A client reads it. */
export interface RpcFailure {
  readonly jsonrpc: string;
  readonly id: unknown;
  readonly error: {
    readonly code: number;
    readonly message: string;
    readonly data: readonly { readonly reason: string; readonly metadata: Readonly<Record<string, string>> }[];
  };
}

/** Reads an error response, and checks the properties that all of them share. */
export async function readFailure(world: World, reply: Reply): Promise<RpcFailure> {
  const text = await reply.text();
  expectNothingLeaked(world, reply, text);
  expect(reply.headers['content-type']).toBe('application/json');
  expect(reply.headers['cache-control']).toBe('no-store');
  const failure = JSON.parse(text) as RpcFailure;
  expect(failure.jsonrpc).toBe('2.0');
  expect(failure.error.data[0]?.metadata['requestId']).toMatch(/\S/);
  return failure;
}

/** The reason of an error response, such as `UPSTREAM_TIMEOUT`. */
export function reasonOf(failure: RpcFailure): string | undefined {
  return failure.error.data[0]?.reason;
}
