import { describe, expect, it } from 'vitest';
import {
  FakeCacheStore,
  FakeClock,
  FakeSessionTokenSource,
  FakeUpstream,
  RecordingTelemetry,
} from '../../src/adapters/fakes/fakes.js';
import { asSessionTokenSource } from '../../src/adapters/sessions/as-session-token-source.js';
import { silentTelemetry } from '../../src/adapters/telemetry/operator-telemetry.js';
import type { RequestContext } from '../../src/ports/http.js';
import { cacheStoreContract } from '../contracts/cache-store.contract.js';
import { clockContract } from '../contracts/clock.contract.js';
import { httpUpstreamContract, type PlatformAnswer, upstreamRequest } from '../contracts/http-upstream.contract.js';
import { sessionTokenSourceContract } from '../contracts/session-token-source.contract.js';
import { telemetryContract } from '../contracts/telemetry.contract.js';

const visitor = (user: string | undefined): RequestContext => ({ headers: {}, native: { request: { user } } });

clockContract('FakeClock', () => new FakeClock());

cacheStoreContract('FakeCacheStore', () => {
  const clock = new FakeClock();
  return {
    store: new FakeCacheStore(clock),
    now: () => clock.now(),
    pass: (ms) => {
      clock.advance(ms);
    },
  };
});

sessionTokenSourceContract('FakeSessionTokenSource', () => {
  const source = new FakeSessionTokenSource();
  const signedIn = visitor('anna');
  return {
    source: {
      getToken: (request, query) => {
        source.session = request === signedIn ? { kind: 'token', accessToken: 'of-anna' } : { kind: 'no-session' };
        return source.getToken(request, query);
      },
    },
    signedIn,
    accessToken: 'of-anna',
    signedOut: visitor(undefined),
  };
});

sessionTokenSourceContract('a function of the framework’s request', () => ({
  source: asSessionTokenSource(({ user }: { user?: string }) => (user === undefined ? null : `of-${user}`)),
  signedIn: visitor('anna'),
  accessToken: 'of-anna',
  signedOut: visitor(undefined),
}));

httpUpstreamContract('FakeUpstream', () => {
  const upstream = new FakeUpstream();
  return Promise.resolve({
    upstream,
    origin: 'https://agent.example',
    willAnswer: ({ status, headers, chunks, breaks }) => {
      upstream.willAnswer(() => ({ status, headers, body: stream(chunks, breaks) }));
    },
    willBeGone: () => {
      upstream.willAnswer(() => ({ kind: 'failure', reason: 'unreachable', detail: 'nobody listens' }));
    },
    received: () =>
      upstream.requests.map(({ method, path, body, headers }) => ({
        method,
        path,
        body: (body ?? '') as string,
        field: String(headers['x-test'] ?? ''),
      })),
    close: () => upstream.close(),
  });
});

telemetryContract('RecordingTelemetry', () => new RecordingTelemetry());
telemetryContract('the telemetry nobody listens to', () => silentTelemetry);

describe('the fakes tell a test what happened:', () => {
  it('a clock moves when it is told to, and only then', () => {
    const clock = new FakeClock(Date.UTC(2026, 5, 1));
    clock.advance(1_500);
    expect(clock.now()).toBe(Date.UTC(2026, 5, 1) + 1_500);
  });

  it('a cache store counts what it is asked', async () => {
    const store = new FakeCacheStore(new FakeClock());
    await store.get('a');
    await store.set('a', 'b', 0);
    await store.delete('a');
    await store.delete('a');
    expect(store.calls).toEqual({ get: 1, set: 1, delete: 2 });
  });

  it('a session keeps the queries', async () => {
    const source = new FakeSessionTokenSource();
    await source.getToken(visitor(undefined), { audience: 'a', forceRefresh: true });
    expect(source.queries).toEqual([{ audience: 'a', forceRefresh: true }]);
  });

  it('an upstream keeps its requests, answers 200 by itself, and knows that it was closed', async () => {
    const upstream = new FakeUpstream();
    const request = upstreamRequest('https://agent.example');
    expect(await upstream.send(request)).toMatchObject({ kind: 'response', response: { status: 200, body: '{}' } });
    expect(upstream.requests).toEqual([request]);
    expect(upstream.closed).toBe(false);
    await upstream.close();
    expect(upstream.closed).toBe(true);
  });

  it('a telemetry gives back the events of one type in their order', () => {
    const telemetry = new RecordingTelemetry();
    telemetry.emit({ type: 'warning', code: 'one', detail: '' });
    telemetry.emit({ type: 'cache_fault', operation: 'get', detail: '' });
    telemetry.emit({ type: 'warning', code: 'two', detail: '' });
    expect(telemetry.of('warning').map(({ code }) => code)).toEqual(['one', 'two']);
  });
});

async function* stream(chunks: PlatformAnswer['chunks'], breaks = false): AsyncGenerator<Uint8Array> {
  for (const chunk of chunks) yield Buffer.from(chunk);
  if (breaks) throw new Error('the connection broke');
}
