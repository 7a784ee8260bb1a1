import { FakeUpstream } from '../../src/adapters/fakes/fake-upstream.js';
import { httpUpstreamContract, type PlatformAnswer } from '../contracts/http-upstream.contract.js';

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

async function* stream(chunks: PlatformAnswer['chunks'], breaks = false): AsyncGenerator<Uint8Array> {
  for (const chunk of chunks) yield Buffer.from(chunk);
  if (breaks) throw new Error('the connection broke');
}
