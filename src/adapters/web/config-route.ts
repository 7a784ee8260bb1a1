import type { ChatConfig } from '../../domain/chat/chat-config.js';
import { mayHoldSession, type RouteAuth } from '../../domain/credentials/route-auth.js';
import { choosingNames } from '../../domain/upstream/header-policy.js';
import type { HeaderFields, HttpHandler, HttpRequest, HttpResponse } from '../../ports/http.js';
import { methodNotAllowed } from './error-response.js';
import { checkOrigin, checkVisitor } from './admission.js';
import { chatAddress, type ChatMount } from './chat-routes.js';
import { serveRoute } from './serve-route.js';

/** Parts of the config route. */
export interface ConfigRoute extends ChatMount {
  readonly chatConfig: ChatConfig;
  readonly auth: RouteAuth;
  /** A short name for a text, the same for the same text in every process. */
  readonly hash: (text: string) => string;
}

const ROUTE = 'config';

/** `GET /config` (spec §4.1): the chat configuration record, for the caller and the protocol version of the request. */
export function configRoute(route: ConfigRoute): HttpHandler {
  return readable(route, 'record');
}

/** The rewritten agent card alone, for clients that look for it at its well-known path. */
export function agentCardRoute(route: ConfigRoute): HttpHandler {
  return readable(route, 'agentCard');
}

function readable(route: ConfigRoute, what: 'record' | 'agentCard'): HttpHandler {
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
  // What is kept costs nobody anything; what the agent is asked for, strangers can ask for at will.
  const admit = auth.kind === 'session' ? undefined : () => checkVisitor(request, route.site);
  const { body, etag } = textOf(await chatConfig[what](versionOf(request), request, auth, entrance, admit), route.hash);
  const headers = {
    // What the visitor's own session may see, or a field another proxy may add, is asked for each time; the rest may rest a minute.
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

/** All responses with one record share its bytes, however many of them wait for a slow browser. */
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

/** The version the browser speaks: by field, or by query where a field cannot be set (A2A v1.0 §3.6.1); empty when it says none. */
function versionOf({ headers, query }: Pick<HttpRequest, 'headers' | 'query'>): string {
  const field = headers['a2a-version'];
  if (field !== undefined) return String(field);
  const asked = [...new URLSearchParams(query)].find(([name]) => name.toLowerCase() === 'a2a-version')?.[1] ?? '';
  // It becomes a header field upstream.
  return /^[\x21-\x7e]*$/.test(asked) ? asked : '';
}

/** Weak comparison, as a GET has it (RFC 9110 §13.1.2). */
function matches(field: HeaderFields[string], etag: string): boolean {
  const listed = String(field ?? '')
    .split(',')
    .map((entry) => entry.trim().replace(/^W\//, ''));
  return listed.includes('*') || listed.includes(etag);
}
