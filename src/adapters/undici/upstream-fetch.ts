import { ReadableStream } from 'node:stream/web';
import { isBodiless, isStream } from '../../domain/shared/body.js';
import type { HttpUpstream } from '../../ports/http.js';

/** Some firewalls in front of a provider reject requests without these, and Node's `fetch` sends them too. */
const USUAL_FIELDS = { accept: '*/*', 'user-agent': 'agent-bff' };

/** A `fetch` for calls to identity providers, sent through an upstream. Takes texts as bodies, and follows no redirect. */
export function upstreamFetch(upstream: HttpUpstream): typeof fetch {
  return async (input, options = {}) => {
    const { origin, pathname, search } = new URL(input instanceof Request ? input.url : input);
    const { method = 'GET', body } = options;
    const signal = options.signal ?? new AbortController().signal;
    const outcome = await upstream.send({
      method,
      origin,
      path: pathname + search,
      headers: { ...USUAL_FIELDS, ...Object.fromEntries(new Headers(options.headers)) },
      body: typeof body === 'string' ? body : null,
      signal,
      // The caller's signal is its deadline.
      headersMs: 0,
      bodyIdleMs: 0,
    });
    signal.throwIfAborted();
    if (outcome.kind === 'failure') {
      const [code = ''] = /^[A-Z][A-Z\d_]+(?=: )/.exec(outcome.log) ?? [];
      throw Object.assign(new Error(outcome.log), { code });
    }
    const { status, headers: fields, body: received } = outcome.response;
    const headers = new Headers();
    for (const [name, value] of Object.entries(fields))
      for (const one of [value ?? []].flat()) headers.append(name, one);
    const content = isStream(received) ? ReadableStream.from(received) : received;
    return new Response(isBodiless(method, status) ? null : (content as BodyInit), { status, headers });
  };
}
