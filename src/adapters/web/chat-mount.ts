import type { ChatEndpoint } from '../../domain/chat/chat-config.js';
import { ChatWatch } from '../../domain/chat/chat-watch.js';
import type { A2ACall } from '../../domain/chat/call.js';
import type { ChatForwarder, ChatRules } from '../../domain/chat/chat-forwarder.js';
import type { MethodPolicy } from '../../domain/chat/method-policy.js';
import { withoutTrailingSlashes } from '../../domain/shared/paths.js';
import type { HttpRequest, HttpResponse } from '../../ports/http.js';
import type { Admitted, Allowance, RouteMount } from './door.js';

/** Settings of a chat route besides its credential and its methods. */
export type ChatCallOptions = Pick<ChatRules, 'tenant' | 'metadata' | 'conversations' | 'visitor'>;

/** Settings shared by all routes below a chat mount. */
export interface ChatMount extends RouteMount {
  readonly policy: MethodPolicy;
  /** Protocol bindings of the chat routes. */
  readonly bindings: readonly string[];
  /** The configured public address; empty if there is none. */
  readonly publicUrl: string;
  /** Recognises the visitor of a request; absent if conversations are open to anyone who knows their id. */
  readonly visitor?: VisitorOf | undefined;
  /** The rules for messages. */
  readonly options?: ChatCallOptions | undefined;
}

/** A chat mount, and the agent its calls go to. */
export interface MessageMount extends ChatMount {
  readonly forwarder: ChatForwarder;
}

/** Adds the visitor to the options of a call. Returns a promise only if a function of the site is called. */
export type VisitorOf = (
  request: HttpRequest,
  countLookup: () => Promise<void>,
) => VisitedOptions | Promise<VisitedOptions>;

/** The options of one visitor's call; without visitors, those of the route. */
export interface VisitedOptions extends ChatCallOptions {
  /** A text unique to this visitor, not necessarily secret. */
  readonly key?: string;
  /** A value of `Set-Cookie`, for the response to a message; absent if none is due. */
  readonly cookie?: string | undefined;
}

/**
 * Sends a visitor's call by its rules; it is watched from here on if a listener asks for `chat` events. A call with a
 * fault has such an event too, so the domain refuses it, and not the reader.
 */
export function byRules(
  mount: ChatMount,
  admitted: Admitted<A2ACall, unknown>,
  send: (rules: ChatRules) => Promise<HttpResponse>,
): Promise<HttpResponse> {
  const { visitor, options = {} } = mount;
  const found = visitor?.(admitted.request, () => admitted.count('reading')) ?? options;
  return found instanceof Promise
    ? found.then((one) => send(rulesOf(mount, admitted, one)))
    : send(rulesOf(mount, admitted, found));
}

function rulesOf(mount: ChatMount, admitted: Admitted<A2ACall, unknown>, found: VisitedOptions): ChatRules {
  const { site, auth, policy } = mount;
  const { request, value } = admitted;
  const { method, kind, contextId, taskId } = value;
  const { digest, clock } = site;
  if (digest !== undefined) {
    // An empty id names nothing.
    const named = { contextId: contextId || undefined, taskId: taskId || undefined };
    admitted.chat = new ChatWatch({ clock, digest }, { method, visitor: found.key, ...named });
  }
  if (kind === 'starts') admitted.cookie = found.cookie;
  const { tenant, metadata, conversations, visitor: named } = found;
  return {
    auth,
    policy,
    tenant,
    metadata,
    conversations,
    visitor: named,
    rewrite: kind === 'card' ? entranceOf(mount, request) : undefined,
  };
}

/** True if everything is judged that a policy or a rule of the site depends on. */
export function isStrict({ policy, visitor, options }: ChatMount): boolean {
  return policy.isStrict || visitor !== undefined || options?.metadata !== undefined;
}

/** The allowance that a call uses. */
export function allowanceOf(kind: A2ACall['kind'] | undefined): Allowance {
  return kind === 'reads' ? 'reading' : 'message';
}

/**
 * The chat route as its client knows it. Scheme and host of a configured public address win: behind a TLS terminator the
 * request does not show them. A path in the configured address is put before the mount path, unless the host application
 * already mounted the route below it.
 */
export function entranceOf({ policy, bindings, publicUrl }: ChatMount, request: HttpRequest): ChatEndpoint {
  const { origin, path } = split(request.publicUrl);
  const mount = withoutTrailingSlashes(path).replace(/\/config$/, '');
  if (publicUrl === '') return { url: origin + mount, path: mount === '' ? '/' : mount, policy, bindings };
  const site = split(publicUrl);
  const prefix = withoutTrailingSlashes(site.path);
  const full = mount === prefix || mount.startsWith(`${prefix}/`) ? mount : prefix + mount;
  return { url: site.origin + full, path: full === '' ? '/' : full, policy, bindings };
}

function split(address: string): { readonly origin: string; readonly path: string } {
  const [, origin = '', path = ''] = /^(https?:\/\/[^/?#]*)([^?#]*)/i.exec(address) ?? [];
  return { origin, path };
}
