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
import { httpUpstreamContract, type PlatformAnswer } from '../contracts/http-upstream.contract.js';
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
      upstream.willAnswer(() => ({ kind: 'failure', reason: 'unreachable', log: 'nobody listens' }));
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
telemetryContract('the telemetry without listeners', () => silentTelemetry);

async function* stream(chunks: PlatformAnswer['chunks'], breaks = false): AsyncGenerator<Uint8Array> {
  for (const chunk of chunks) yield Buffer.from(chunk);
  if (breaks) throw new Error('the connection broke');
}
