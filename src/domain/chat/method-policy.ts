import { RequestError } from '../errors.js';
import type { RpcEnvelope } from './json-rpc.js';

/** Methods under their v1.0 name, with the name of v0.2 and v0.3 where there is one (a2a-and-surfaces.md §1.1). */
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

const CHAT_METHODS: ReadonlySet<string> = new Set([
  'SendMessage',
  'SendStreamingMessage',
  'GetTask',
  'CancelTask',
  'SubscribeToTask',
]);

/** Which A2A methods cross. With a service credential all visitors are one user of the agent, so the default is closed. */
export class MethodPolicy {
  /** Undefined when every method crosses. */
  readonly #allowed: ReadonlySet<string> | undefined;

  constructor(methods: 'chat' | 'all' | readonly string[]) {
    if (methods === 'all') this.#allowed = undefined;
    else if (methods === 'chat') this.#allowed = CHAT_METHODS;
    else this.#allowed = new Set(methods.map(canonical));
  }

  /** Whether no request needs to be looked at. */
  get open(): boolean {
    return this.#allowed === undefined;
  }

  /** Whether a method, in either spelling, crosses. */
  allows(method: string): boolean {
    return this.#allowed === undefined || this.#allowed.has(canonical(method));
  }

  /**
   * Refuses what the policy denies.
   *
   * @throws RequestError `method_denied`, with the code the agent itself would use for a missing feature:
   * -32003 for push notifications, -32004 for listing, -32601 otherwise.
   */
  check(request: RpcEnvelope): void {
    if (!this.allows(request.method)) throw denied(denialCode(request.method), 'This method is not available here.');
    if (hasPushConfiguration(request.params) && !this.allows('CreateTaskPushNotificationConfig')) {
      throw denied(-32003, 'Push notifications are not available here.');
    }
  }
}

const CONFIGURATION = 'configuration';

function canonical(method: string): string {
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

/** A webhook registered inside a chat message (a2a-and-surfaces.md §1.5): every generation keeps it under `configuration`, as `pushNotification`, `pushNotificationConfig` or `taskPushNotificationConfig`. */
function hasPushConfiguration(params: unknown): boolean {
  if (!isObject(params)) return false;
  return Object.keys(params).some((name) => {
    // Folding takes nothing together: a shorter name cannot become it.
    if (name.length < CONFIGURATION.length || folded(name) !== CONFIGURATION) return false;
    const value = (params as Readonly<Record<string, unknown>>)[name];
    return isObject(value) && Object.keys(value).some((field) => folded(field).includes('pushnotification'));
  });
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

/** Some JSON readers match names without case or underscores, so the check does too. */
function folded(name: string): string {
  return name.toLowerCase().replaceAll('_', '');
}
