import { RequestError } from '../shared/errors.js';
import { type A2ACall, currentName } from './call.js';

const CHAT_METHODS = ['SendMessage', 'SendStreamingMessage', 'GetTask', 'CancelTask', 'SubscribeToTask'];

/**
 * The A2A methods that are forwarded. With a service credential all visitors are one user of the agent, so the default
 * is a closed list.
 */
export class MethodPolicy {
  /** Undefined if every method is allowed; under their names in v1.0. */
  readonly #allowed: ReadonlySet<string> | undefined;

  constructor(methods: 'chat' | 'all' | readonly string[]) {
    if (methods === 'all') return;
    this.#allowed = new Set((methods === 'chat' ? CHAT_METHODS : methods).map(currentName));
  }

  /** True if it denies anything, so that a message must be judged in full. */
  get isStrict(): boolean {
    return this.#allowed !== undefined;
  }

  /** True if a method is allowed, in either spelling. */
  allows(method: string): boolean {
    return this.#allowed === undefined || this.#allowed.has(currentName(method));
  }

  /**
   * Rejects denied methods, and calls that two parsers could read differently.
   *
   * @throws RequestError `method_denied`, with the code the agent itself would use for a missing feature:
   * -32003 for push notifications, -32004 for listing, -32601 otherwise.
   * @throws RequestError `body_invalid` with the fault of the message.
   */
  check({ method, rest, fault, hasPush }: A2ACall): void {
    // A path names its method, whatever the body is.
    if (rest === undefined && fault !== undefined) throw fault;
    if (!this.allows(method)) throw denied(denialCode(method), 'This method is not available here.');
    if (fault !== undefined) throw fault;
    if (hasPush && !this.allows('CreateTaskPushNotificationConfig')) {
      throw denied(-32003, 'Push notifications are not available here.');
    }
  }
}

function denied(rpcCode: number, detail: string): RequestError {
  const hint = 'The site allows chat methods only; its operator can change "a2aMethods".';
  return new RequestError('method_denied', { detail, hint, fields: ['a2aMethods'], rpcCode });
}

function denialCode(method: string): number {
  if (method.includes('PushNotificationConfig')) return -32003;
  return method === 'ListTasks' ? -32004 : -32601;
}
