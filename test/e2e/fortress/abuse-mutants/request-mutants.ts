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
function changed(request: HttpRequest, change: Partial<HttpRequest>): HttpRequest {
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

const decoded = (path: string): string => {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
};

/** Forwarders that believe the browser, or carry too much of what it sent. */
export const REQUEST_MUTANTS: readonly AbuseMutant[] = [
  {
    name: 'carries cookies to the platform',
    noticedBy: ['cookies', 'cookie-record-one'],
    breaks: { send: carrying((name) => name === 'cookie') },
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
        browser.path === '/config' && answer.body instanceof Uint8Array
          ? {
              ...answer,
              body: Buffer.from(answer.body).toString().replaceAll('site.example', text(browser.headers['host'])),
            }
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
];
