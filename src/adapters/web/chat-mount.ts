import { ChatWatch } from '../../domain/chat/chat-watch.js';
import type { ChatCallOptions } from '../../domain/chat/conversations.js';
import { type MessageBody, namesIn } from '../../domain/chat/message-edits.js';
import { type MethodPolicy, readsOn } from '../../domain/chat/method-policy.js';
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

/** The options of a visitor's call, which is watched from here on if a listener asks for `chat` events. */
export async function visited(
  { site, visitor, options = {} }: ChatMount,
  admitted: Admitted<unknown, unknown>,
  call: NamedCall,
): Promise<VisitedOptions> {
  const found: VisitedOptions =
    visitor === undefined ? options : await visitor(admitted.request, () => admitted.count('reading'));
  const { digest, clock } = site;
  if (digest !== undefined) {
    const { contextId, taskId = call.taskId } = namesIn({ body: call.body });
    admitted.chat = new ChatWatch({ clock, digest }, { method: call.method, visitor: found.key, contextId, taskId });
  }
  return found;
}

/** The allowance that a method uses. */
export function allowanceOf(method: string): Allowance {
  return readsOn(method) ? 'reading' : 'message';
}
