/** A message as an agent behind the site received it. */
export interface CrossedMessage {
  /** Its unchanged `Content-Type` field, or an empty string. */
  readonly contentType: string;
  readonly body: Uint8Array;
}

/** One program's reading of one message. */
export interface Reading {
  /** The message's place in its batch. */
  readonly id: number;
  readonly reader: string;
  /** The method it would run; null if it rejected the message. */
  readonly method: string | null;
  /** True if it read a push notification configuration other than null. */
  readonly push: boolean;
  readonly error?: string;
}

/** Programs in one language that read messages like servers written in it. */
export interface ReaderFamily {
  readonly name: string;
  /** True if this machine has their dependencies. */
  readonly installed: boolean;
  /** The readings of every message by every program. */
  read(messages: readonly CrossedMessage[]): Promise<readonly Reading[]>;
}

/** Methods of policy `chat`, in both spellings (A2A v1.0 §9.4, v0.3 §7). */
export const CHAT_METHODS: ReadonlySet<string> = new Set([
  'SendMessage',
  'SendStreamingMessage',
  'GetTask',
  'CancelTask',
  'SubscribeToTask',
  'message/send',
  'message/stream',
  'tasks/get',
  'tasks/cancel',
  'tasks/resubscribe',
]);

/** The names of a push configuration below `params.configuration` in each generation, with the protobuf names. */
const PUSH_NAMES: readonly string[] = [
  'pushNotification',
  'pushNotificationConfig',
  'taskPushNotificationConfig',
  'push_notification',
  'push_notification_config',
  'task_push_notification_config',
];

/** True if a parser treats the found name as the expected one. */
export type SameName = (found: string, name: string) => boolean;

/** The comparison of most parsers: the names must be equal. */
const exactly: SameName = (found, name) => found === name;

/**
 * The reading of a parsed body by a JavaScript server. A batch is read request by request, as servers that allow batches do.
 * Of several methods or several possible members, the least allowed one counts.
 */
export function plainReading(value: unknown, same: SameName = exactly): Pick<Reading, 'method' | 'push'> {
  const requests: readonly unknown[] = Array.isArray(value) ? value : [value];
  const methods = members(requests, 'method', same).filter((method) => typeof method === 'string');
  const configurations = members(members(requests, 'params', same), 'configuration', same);
  const push = PUSH_NAMES.some((name) => members(configurations, name, same).some((one) => one !== null));
  return { method: methods.find((method) => !CHAT_METHODS.has(method)) ?? methods[0] ?? null, push };
}

/** The members of this name in all of these values that are objects. */
function members(values: readonly unknown[], name: string, same: SameName): readonly unknown[] {
  return values.flatMap((value) =>
    typeof value === 'object' && value !== null
      ? Object.entries(value).flatMap(([found, member]) => (same(found, name) ? [member as unknown] : []))
      : [],
  );
}
