import type { HttpRequest, UpstreamRequest } from '../../../../src/ports/http.js';
import type { AbuseMutant, Visit } from './mutant.js';

/** Adds fields of the browser's to what is sent. */
const carrying =
  (choose: (name: string) => boolean) =>
  (request: UpstreamRequest, { browser }: Visit): UpstreamRequest => {
    const chosen = Object.entries(browser.headers).filter(([name]) => choose(name));
    return { ...request, headers: { ...Object.fromEntries(chosen), ...request.headers } };
  };

/** Changes fields of what is sent; `undefined` takes one away. */
const withFields =
  (
    change: (
      visit: Visit,
      request: UpstreamRequest,
    ) => Readonly<Record<string, string | readonly string[] | undefined>>,
  ) =>
  (request: UpstreamRequest, visit: Visit): UpstreamRequest => ({
    ...request,
    headers: { ...request.headers, ...change(visit, request) },
  });

const text = (value: unknown): string => String(value ?? '');

const withPath =
  (change: (path: string) => string) =>
  (request: HttpRequest): HttpRequest =>
    changed(request, { path: change(request.path) });

/** A request of ours has getters, which a spread would lose. */
export function changed(request: HttpRequest, change: Partial<HttpRequest>): HttpRequest {
  return Object.create(
    request,
    Object.fromEntries([
      ['body', { get: () => request.body }],
      ...Object.entries(change).map(([name, value]) => [name, { value, enumerable: true }]),
      ['signal', { get: () => request.signal, configurable: true }],
      ['publicUrl', { get: () => request.publicUrl }],
    ]) as PropertyDescriptorMap,
  ) as HttpRequest;
}

/** All of a body that nobody read before; `undefined` when there is none to read. */
export async function wholeBody({ body }: HttpRequest): Promise<Uint8Array | undefined> {
  if (body === null || typeof body === 'string' || body instanceof Uint8Array) return undefined;
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return Buffer.concat(chunks);
}

const decoded = (path: string): string => {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
};

/** Names of the browser's fields that a careless list of exceptions forgets. */
const OVERRIDE = 'x-http-method-override';

/** Forwarders that believe the browser, or carry too much of what it sent. */
export const REQUEST_MUTANTS: readonly AbuseMutant[] = [
  {
    name: 'carries cookies to the platform',
    noticedBy: ['cookies', 'cookie-record-one'],
    breaks: { send: carrying((name) => name === 'cookie') },
  },
  {
    name: "sends the browser's own credential beside the site's",
    noticedBy: ['credential fields', 'cred-chat-0-authorization'],
    breaks: {
      send: withFields(({ browser }, { headers }) => ({
        authorization: [headers['authorization'], browser.headers['authorization']].flatMap((one) => one ?? []),
      })),
    },
  },
  {
    name: "lets the browser's own credential win",
    noticedBy: ['credential fields', 'cred-chat-0-authorization'],
    breaks: {
      send: withFields(({ browser: { headers } }) =>
        headers['authorization'] === undefined ? {} : { authorization: headers['authorization'] },
      ),
    },
  },
  {
    name: "lets the browser's own API key win",
    noticedBy: ['credential fields', 'cred-render-3-x-api-key'],
    breaks: {
      send: withFields(({ browser: { headers } }) =>
        headers['x-api-key'] === undefined ? {} : { 'x-api-key': headers['x-api-key'] },
      ),
    },
  },
  {
    name: 'lets Connection take the credential away',
    noticedBy: ['connection options', 'conn-chat-0-authorization'],
    breaks: {
      send: withFields(({ browser }) =>
        /authorization/i.test(text(browser.headers['connection'])) ? { authorization: undefined } : {},
      ),
    },
  },
  {
    name: 'lets Connection take the API key away',
    noticedBy: ['connection options', 'conn-render-8-close-x-api-key'],
    breaks: {
      send: withFields(({ browser }) =>
        /x-api-key/i.test(text(browser.headers['connection'])) ? { 'x-api-key': undefined } : {},
      ),
    },
  },
  {
    name: 'carries forwarding fields on',
    noticedBy: ['identity and forwarding fields', 'ident-chat-x-forwarded-for'],
    breaks: { send: carrying((name) => name.startsWith('x-forwarded-')) },
  },
  {
    name: 'carries what is spelt with an underscore',
    noticedBy: ['identity and forwarding fields', 'ident-chat-x_forwarded_user'],
    breaks: { send: carrying((name) => name.includes('_')) },
  },
  {
    name: 'carries the fields that proxies use for users',
    noticedBy: ['identity and forwarding fields', 'ident-record-remote-user'],
    breaks: { send: carrying((name) => name === 'remote-user') },
  },
  {
    name: "carries the browser's host on",
    noticedBy: ['hosts', 'hdr-host-chat-1-evil.example'],
    breaks: { send: withFields(({ browser }) => ({ host: text(browser.headers['host']) })) },
  },
  {
    name: 'carries the other hop-by-hop fields on',
    noticedBy: ['connection options', 'conn-chat-22-close-te-trailers-authorization'],
    breaks: { send: carrying((name) => name === 'te') },
  },
  {
    name: 'answers for the host it was called by',
    noticedBy: ['hosts', 'hdr-host-config-1-evil.example'],
    breaks: {
      answer: (answer, { browser }) =>
        browser.path === '/config' && typeof answer.body === 'string'
          ? { ...answer, body: answer.body.replaceAll('site.example', text(browser.headers['host'])) }
          : answer,
    },
  },
  {
    name: 'decodes a path before it looks at it',
    noticedBy: ['paths of the corpus', 'path-record-an-encoded-slash'],
    breaks: { request: withPath(decoded) },
  },
  {
    name: 'resolves a path before it looks at it',
    noticedBy: ['traversal', 'seg-..-0'],
    breaks: {
      request: withPath((path) => (URL.canParse(path, 'http://x') ? new URL(path, 'http://x').pathname : path)),
    },
  },
  {
    name: 'takes a backslash for a slash',
    noticedBy: ['traversal', 'seg-..-3'],
    breaks: {
      request: withPath(
        (path) =>
          `/${path
            .split(/[\\/]/)
            .filter((one) => one !== '' && one !== '..')
            .join('/')}`,
      ),
    },
  },
  {
    name: 'sends what it was given when that names a server',
    noticedBy: ['request targets', 'ssrf-target-record-0-http-canary'],
    breaks: {
      host: (request) => {
        request.headers['x-origin'] = /^(https?:\/\/[^/]+)\//.exec(request.url ?? '')?.[1] ?? '';
        request.url = (request.url ?? '').replace(/^https?:\/\/[^/]+/, '');
      },
      send: (request, { browser }) => ({ ...request, origin: text(browser.headers['x-origin']) || request.origin }),
    },
  },
  {
    name: 'parses a query and writes it anew',
    noticedBy: ['queries', 'query-chat-13-a=%'],
    breaks: {
      send: (request) => {
        const [path = '', ...query] = request.path.split('?');
        return query.length === 0
          ? request
          : { ...request, path: `${path}?${new URLSearchParams(query.join('?')).toString()}` };
      },
    },
  },
  {
    name: 'keeps one of several values of a name in a query',
    noticedBy: ['queries', 'query-chat-0-a=1-a=2'],
    breaks: {
      send: (request) => {
        const url = new URL(request.path, 'http://x');
        const query = new URLSearchParams(Object.fromEntries(url.searchParams)).toString();
        return { ...request, path: url.pathname + (query === '' ? '' : `?${query}`) };
      },
    },
  },
  {
    name: 'lets a query be anything',
    noticedBy: ['header injection', 'inject-raw-query-0'],
    breaks: {
      request: (request) => changed(request, { query: request.query.split('#', 1)[0] ?? '' }),
      send: (request, { browser }) => ({
        ...request,
        path: request.path + (/#.*/.exec(Object.getPrototypeOf(browser).query)?.[0] ?? ''),
      }),
    },
  },
  {
    name: 'believes another method',
    noticedBy: ['methods', 'hdr-method-override-record-x-http-method-override'],
    breaks: {
      send: (request, { browser }) => ({ ...request, method: text(browser.headers[OVERRIDE]) || request.method }),
    },
  },
  {
    name: 'takes a TRACE for a GET',
    noticedBy: ['methods', 'route-record-TRACE'],
    breaks: { request: (request) => (request.method === 'TRACE' ? changed(request, { method: 'GET' }) : request) },
  },
  {
    name: 'does not look where a request comes from',
    noticedBy: ['origins', 'csrf-chat-0-sec-fetch-site-cross-site'],
    breaks: {
      request: (request) => {
        const { origin: _origin, 'sec-fetch-site': _site, ...headers } = request.headers;
        return changed(request, { headers });
      },
    },
  },
  {
    name: 'takes an origin that only begins like the own one',
    noticedBy: ['origins', 'csrf-chat-11-origin-https-site.example.evil.example'],
    breaks: {
      request: (request) =>
        text(request.headers['origin']).startsWith('https://site.example')
          ? changed(request, { headers: { ...request.headers, origin: 'https://site.example' } })
          : request,
    },
  },
  {
    name: 'takes no origin for its own',
    noticedBy: ['origins', 'csrf-chat-9-origin-null'],
    breaks: {
      request: (request) => {
        const { origin, ...headers } = request.headers;
        return origin === 'null' ? changed(request, { headers }) : request;
      },
    },
  },
  {
    name: 'trusts Sec-Fetch-Site over Origin',
    noticedBy: ['rebinding', 'rebind-chat-host-evil.example-sec-fetch-site-same-origin-origin-https-ev'],
    breaks: {
      request: (request) => {
        const { origin: _origin, 'sec-fetch-site': site, ...headers } = request.headers;
        return site === 'same-origin' ? changed(request, { headers }) : request;
      },
    },
  },
  {
    name: 'takes the host it was called by for its own',
    noticedBy: ['rebinding', 'rebind-chat-host-evil.example-origin-http-evil.example'],
    breaks: {
      request: (request) => {
        const { origin, host } = request.headers;
        return text(origin).replace(/^https?:\/\//, '') === host
          ? changed(request, { headers: { ...request.headers, origin: 'https://site.example' } })
          : request;
      },
    },
  },
  {
    name: "takes the browser's word where no origin is named",
    noticedBy: ['rebinding', 'rebind-chat-host-evil.example-sec-fetch-site-same-origin'],
    breaks: {
      request: (request) => {
        const { 'sec-fetch-site': site, ...headers } = request.headers;
        return site === 'same-origin' && headers['origin'] === undefined ? changed(request, { headers }) : request;
      },
    },
  },
  {
    name: 'does not look at the scheme of an origin',
    noticedBy: ['rebinding', 'rebind-chat-origin-http-site.example'],
    breaks: {
      request: (request) =>
        request.headers['origin'] === 'http://site.example'
          ? changed(request, { headers: { ...request.headers, origin: 'https://site.example' } })
          : request,
    },
  },
  {
    name: 'takes any body for JSON',
    noticedBy: ['content types', 'ct-chat-0-text-plain'],
    breaks: {
      request: (request) =>
        request.headers['content-type'] === undefined
          ? request
          : changed(request, { headers: { ...request.headers, 'content-type': 'application/json' } }),
    },
  },
  {
    name: 'does not look at how a body is coded',
    noticedBy: ['content codings', 'body-coding-render-14-unknown'],
    breaks: {
      request: (request) => {
        const { 'content-encoding': _coding, ...headers } = request.headers;
        // Unread, as if nobody had to decide by it.
        return request.body === null ? request : changed(request, { headers });
      },
    },
  },
  {
    name: 'forwards bodies of any size',
    noticedBy: ['body sizes', 'body-large-chunked-chat'],
    breaks: {
      request: async (request) => {
        const { body } = request;
        if (body === null || typeof body === 'string' || body instanceof Uint8Array) return request;
        const { 'content-length': _length, ...headers } = request.headers;
        let whole = '';
        for await (const chunk of body) whole += Buffer.from(chunk).toString('latin1');
        return changed(request, { headers, body: whole });
      },
    },
  },
  {
    name: 'forwards what came of a body that never ended',
    noticedBy: ['body sizes', 'body-short-chunked-chat'],
    breaks: {
      request: async (request) => {
        const { body } = request;
        if (body === null || typeof body === 'string' || body instanceof Uint8Array) return request;
        const chunks: Uint8Array[] = [];
        try {
          for await (const chunk of body) chunks.push(chunk);
        } catch {
          // Half is better than nothing.
          const message = '{"jsonrpc":"2.0","id":1,"method":"SendMessage"}';
          const never = new AbortController().signal;
          return Object.defineProperty(changed(request, { body: message }), 'signal', { value: never });
        }
        return changed(request, { body: Buffer.concat(chunks) });
      },
    },
  },
  {
    name: 'writes a body anew from what it parsed',
    noticedBy: ['JSON', 'json-bytes'],
    breaks: {
      send: (request) => {
        if (!(request.body instanceof Uint8Array)) return request;
        const value: unknown = JSON.parse(Buffer.from(request.body).toString());
        return { ...request, body: JSON.stringify(value) };
      },
    },
  },
  {
    name: 'decides on the last of two methods',
    noticedBy: ['JSON', 'json-twice-1'],
    breaks: {
      request: async (request) => {
        const whole = await wholeBody(request);
        if (whole === undefined) return request;
        return changed(request, { body: JSON.stringify(JSON.parse(Buffer.from(whole).toString())) });
      },
    },
  },
  {
    name: 'takes whoever brings a bearer for signed in',
    noticedBy: ['sessions', 'sess-get-0-authorization-bearer-token-of-ada'],
    breaks: {
      host: ({ headers }) => {
        const user = /token-of-(\w+)/.exec(text(headers.authorization))?.[1];
        if (user !== undefined) headers.cookie = `session=${user}`;
      },
    },
  },
  {
    name: 'lets health checks in',
    noticedBy: ['sessions', 'sess-get-11-user-agent-kube-probe-1.34'],
    breaks: {
      host: ({ headers }) => {
        if (text(headers['user-agent']).startsWith('kube-probe')) headers.cookie = 'session=ada';
      },
    },
  },
  {
    name: 'trusts that a middleware has looked',
    noticedBy: ['sessions', 'sess-get-17-x-middleware-subrequest-middleware'],
    breaks: {
      host: ({ headers }) => {
        if (headers['x-middleware-subrequest'] !== undefined) headers.cookie = 'session=ada';
      },
    },
  },
];
