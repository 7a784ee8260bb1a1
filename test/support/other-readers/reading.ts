/** A message as an agent behind the site received it. */
export interface CrossedMessage {
  /** Its `Content-Type` field as it came, empty when there was none. */
  readonly contentType: string;
  readonly body: Uint8Array;
}

/** What one program made of one message. */
export interface Reading {
  /** The message's place in its batch. */
  readonly id: number;
  readonly reader: string;
  /** The method it would carry out; null when it refused the message. */
  readonly method: string | null;
  /** Whether it saw a push notification configuration that is more than null. */
  readonly push: boolean;
  readonly error?: string;
}

/** Programs in one language that read messages as servers written in it do. */
export interface ReaderFamily {
  readonly name: string;
  /** Whether this machine has what they need. */
  readonly installed: boolean;
  /** What every one of them makes of every message. */
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

/** Where the generations keep a push configuration below `params.configuration`, and their protobuf names. */
const PUSH_NAMES: readonly string[] = [
  'pushNotification',
  'pushNotificationConfig',
  'taskPushNotificationConfig',
  'push_notification',
  'push_notification_config',
  'task_push_notification_config',
];

/** Whether a reader takes the name it found for the one it looks for. */
export type SameName = (found: string, name: string) => boolean;

/** What most readers do: the names have to be equal. */
const exactly: SameName = (found, name) => found === name;

/**
 * What a server written in JavaScript reads of a parsed body. A batch is read as servers that allow batches do, request by request;
 * of several methods, and of several members a reader may choose from, the most telling one counts.
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
