import type { HttpUpstream } from '../../src/ports/http.js';
import type { HttpUpstreamCase } from '../contracts/http-upstream.contract.js';
import { RecordingUpstream } from './recording-upstream.js';

/** An upstream that calls over the network, and a platform on loopback. `close` ends what the upstream uses. */
export async function loopbackCase(upstream: HttpUpstream, close: () => Promise<unknown>): Promise<HttpUpstreamCase> {
  const platform = await RecordingUpstream.start();
  return {
    upstream,
    origin: platform.origin,
    willAnswer: ({ status, headers, chunks, breaks }) => {
      platform.willAnswer((exchange) => {
        exchange.head(status, headers);
        for (const chunk of chunks) exchange.write(chunk);
        if (breaks === true) exchange.fin();
        else exchange.end();
      });
    },
    willBeGone: () => {
      platform.willAnswer((exchange) => exchange.reset());
    },
    received: () =>
      platform.requests.map(({ method, target, body, fields }) => ({
        method,
        path: target,
        body: body.toString(),
        field: fields.find(([name]) => name === 'x-test')?.[1] ?? '',
      })),
    close: async () => {
      await platform.close();
      await close();
    },
  };
}
