import type { ChatEndpoint } from '../../domain/chat/chat-config.js';
import { ChatWatch } from '../../domain/chat/chat-watch.js';
import type { ChatCallOptions } from '../../domain/chat/conversations.js';
import { type MessageBody, namesIn } from '../../domain/chat/message-edits.js';
import { type MethodPolicy, readsOn, startsWork } from '../../domain/chat/method-policy.js';
import { withoutTrailingSlashes } from '../../domain/shared/paths.js';
import type { HttpRequest } from '../../ports/http.js';
import type { Admitted, Allowance, RouteMount } from './door.js';

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

/** The names in a call, for its `chat` event. */
interface NamedCall {
  readonly method: string;
  /** Absent if the call has no body, or if it has not been parsed. */
  readonly body?: MessageBody | undefined;
  /** The task in its path. */
  readonly taskId?: string | undefined;
}

/**
 * The options of a visitor's call, which is watched from here on if a listener asks for `chat` events. A call with a
 * fault of its own has such an event too, so the domain refuses it, and not the reader.
 */
export async function visited(
  { site, visitor, options = {} }: ChatMount,
  admitted: Admitted,
  { method, body, taskId }: NamedCall,
): Promise<VisitedOptions> {
  const found: VisitedOptions =
    visitor === undefined ? options : await visitor(admitted.request, () => admitted.count('reading'));
  const { digest, clock } = site;
  if (digest !== undefined) {
    const names = { taskId, ...namesIn({ body }) };
    admitted.chat = new ChatWatch({ clock, digest }, { method, visitor: found.key, ...names });
  }
  if (startsWork(method)) admitted.cookie = found.cookie;
  return found;
}

/** The allowance that a method uses. */
export function allowanceOf(method = ''): Allowance {
  return readsOn(method) ? 'reading' : 'message';
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
