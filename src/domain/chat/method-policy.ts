import { RequestError } from '../shared/errors.js';
import type { ChatMessage, Scrutiny } from './chat-message.js';

/** Methods under their v1.0 name, with their name in v0.2 and v0.3 if there is one. */
const SPELLINGS: ReadonlyMap<string, string> = new Map([
  ['message/send', 'SendMessage'],
  ['message/stream', 'SendStreamingMessage'],
  ['tasks/get', 'GetTask'],
  ['tasks/list', 'ListTasks'],
  ['tasks/cancel', 'CancelTask'],
  ['tasks/resubscribe', 'SubscribeToTask'],
  ['tasks/pushNotificationConfig/set', 'CreateTaskPushNotificationConfig'],
  ['tasks/pushNotificationConfig/get', 'GetTaskPushNotificationConfig'],
  ['tasks/pushNotificationConfig/list', 'ListTaskPushNotificationConfigs'],
  ['tasks/pushNotificationConfig/delete', 'DeleteTaskPushNotificationConfig'],
  ['agent/getAuthenticatedExtendedCard', 'GetExtendedAgentCard'],
]);

const CHAT_METHODS = ['SendMessage', 'SendStreamingMessage', 'GetTask', 'CancelTask', 'SubscribeToTask'];

/**
 * The A2A methods that are forwarded. With a service credential all visitors are one user of the agent, so the default
 * is a closed list.
 */
export class MethodPolicy {
  /** Undefined if every method is allowed; in both spellings. */
  readonly #allowed: ReadonlySet<string> | undefined;

  constructor(methods: 'chat' | 'all' | readonly string[]) {
    if (methods === 'all') return;
    const names = new Set((methods === 'chat' ? CHAT_METHODS : methods).map(canonical));
    const old = [...SPELLINGS.keys()].filter((method) => names.has(canonical(method)));
    this.#allowed = new Set([...names, ...old]);
  }

  /** The part of a message this policy depends on. */
  get scrutiny(): Scrutiny {
    return this.#allowed === undefined ? 'method' : 'policy';
  }

  /** True if a method is allowed, in either spelling. */
  allows(method: string): boolean {
    return this.#allowed === undefined || this.#allowed.has(method);
  }

  /**
   * Rejects denied methods, and messages that two JSON parsers could read differently.
   *
   * @throws RequestError `method_denied`, with the code the agent itself would use for a missing feature:
   * -32003 for push notifications, -32004 for listing, -32601 otherwise.
   * @throws RequestError `body_invalid` with the fault of the message.
   */
  check(method: string, message: ChatMessage | undefined): void {
    if (message?.fault !== undefined) throw message.fault;
    if (!this.allows(method)) throw denied(denialCode(method), 'This method is not available here.');
    if (message?.hasPushConfiguration === true && !this.allows('CreateTaskPushNotificationConfig')) {
      throw denied(-32003, 'Push notifications are not available here.');
    }
  }
}

const READING: ReadonlySet<string> = new Set(['GetTask', 'SubscribeToTask', 'CancelTask']);

/** True if a method, in either spelling, follows or cancels a task without starting work. */
export function readsOn(method: string): boolean {
  return READING.has(canonical(method));
}

/** True if a method, in either spelling, sends a message. */
export function startsWork(method: string): boolean {
  return canonical(method) === 'SendMessage' || canonical(method) === 'SendStreamingMessage';
}

const METHODS: ReadonlySet<string> = new Set(SPELLINGS.values());

/** A method by its name in v1.0; `_OTHER` for one that no version defines, as OpenTelemetry writes it. */
export function knownMethod(method: string): string {
  const name = canonical(method);
  return METHODS.has(name) ? name : '_OTHER';
}

/** A method by its name in v1.0. */
export function canonical(method: string): string {
  return SPELLINGS.get(method) ?? method;
}

function denied(rpcCode: number, detail: string): RequestError {
  const hint = 'The site allows chat methods only; its operator can change "a2aMethods".';
  return new RequestError('method_denied', { detail, hint, fields: ['a2aMethods'], rpcCode });
}

function denialCode(method: string): number {
  const name = canonical(method);
  if (name.includes('PushNotificationConfig')) return -32003;
  return name === 'ListTasks' ? -32004 : -32601;
}
