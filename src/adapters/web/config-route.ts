import type { ChatConfig } from '../../domain/chat/chat-config.js';
import { mayHoldSession } from '../../domain/credentials/route-auth.js';
import { choosingNames } from '../../domain/upstream/header-policy.js';
import type { HeaderFields, HttpHandler, HttpRequest, HttpResponse } from '../../ports/http.js';
import { methodNotAllowed } from './error-response.js';
import { checkOrigin, checkVisitor } from './admission.js';
import { chatAddress, type ChatMount } from './chat-routes.js';
import { serveRoute } from './serve-route.js';

export interface ConfigRoute extends ChatMount {
  readonly chatConfig: ChatConfig;
  /** A short digest of a text, the same in every process. */
  readonly hash: (text: string) => string;
}

const ROUTE = 'config';

/**
 * Reads the chat configuration record (`GET /config`), or the rewritten agent card alone, for clients that fetch it from
 * its well-known path: for the caller and the protocol version of the request.
 */
export function configRoute(route: ConfigRoute, what: 'record' | 'agentCard'): HttpHandler {
  return (request) =>
    serveRoute({ site: route.site, route: ROUTE }, request, (context) =>
      request.method === 'GET' || request.method === 'HEAD'
        ? serve(route, request, what)
        : methodNotAllowed('GET, HEAD', context),
    );
}

async function serve(route: ConfigRoute, request: HttpRequest, what: 'record' | 'agentCard'): Promise<HttpResponse> {
  const { chatConfig, auth, policy, bindings } = route;
  const isSession = mayHoldSession(auth);
  checkOrigin(request, route.site.origins, isSession);
  const varied = choosingNames(auth.fields?.request ?? []);
  const entrance = { ...chatAddress(request.publicUrl, route.publicUrl), policy, bindings };
  // Cached results are free; requests to the agent must be limited, because anyone can cause them.
  const admit = auth.kind === 'session' ? undefined : () => checkVisitor(request, route.site, auth);
  const { body, etag } = textOf(await chatConfig[what](versionOf(request), request, auth, entrance, admit), route.hash);
  const headers = {
    // A response for the visitor's own session, or one that varies by a field that other proxies may add, is always
    // revalidated; others may be cached for a minute.
    'cache-control': isSession || varied.length > 0 ? 'private, max-age=0, must-revalidate' : 'private, max-age=60',
    vary: ['A2A-Version', 'Cookie', ...varied].join(', '),
    etag,
    'x-content-type-options': 'nosniff',
  };
  if (matches(request.headers['if-none-match'], etag)) return { status: 304, headers, body: null };
  return { status: 200, headers: { 'content-type': 'application/json', ...headers }, body };
}

interface RecordText {
  readonly body: Uint8Array;
  readonly etag: string;
}

/** All responses with the same record share its bytes, however many wait for a slow browser. */
const texts = new WeakMap<object, RecordText>();
const encoder = new TextEncoder();

function textOf(record: object, hash: ConfigRoute['hash']): RecordText {
  let known = texts.get(record);
  if (known === undefined) {
    const text = JSON.stringify(record);
    known = { body: encoder.encode(text), etag: `"${hash(text)}"` };
    texts.set(record, known);
  }
  return known;
}

/** The browser's protocol version: by header field, or by query if it cannot set one (A2A v1.0 §3.6.1); empty if it names none. */
function versionOf({ headers, query }: Pick<HttpRequest, 'headers' | 'query'>): string {
  const field = headers['a2a-version'];
  if (field !== undefined) return String(field);
  const asked = [...new URLSearchParams(query)].find(([name]) => name.toLowerCase() === 'a2a-version')?.[1] ?? '';
  // The version becomes an upstream header field.
  return /^[\x21-\x7e]*$/.test(asked) ? asked : '';
}

/** Weak comparison, as required for GET (RFC 9110 §13.1.2). */
function matches(field: HeaderFields[string], etag: string): boolean {
  const listed = String(field ?? '')
    .split(',')
    .map((entry) => entry.trim().replace(/^W\//, ''));
  return listed.includes('*') || listed.includes(etag);
}
