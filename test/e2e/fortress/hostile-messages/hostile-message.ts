/** A message that somebody sends to get more than the policy allows. */
export interface HostileMessage {
  /** What it tries, in a few words; messages that try the same share them. */
  readonly tries: string;
  /** Header lines that say what the body is. */
  readonly declares: readonly string[];
  readonly body: Uint8Array;
}

export const JSON_TYPE = 'Content-Type: application/json';

/** A message whose text is what is hostile about it. */
export function hostile(
  tries: string,
  body: string | Uint8Array,
  declares: readonly string[] = [JSON_TYPE],
): HostileMessage {
  return { tries, declares, body: typeof body === 'string' ? Buffer.from(body) : body };
}

/** A member of an object, both as they are written. */
export type Member = readonly [name: string, value: string];

/** Names are written as they are, so that they may be written in every way. */
export function object(...members: readonly Member[]): string {
  return `{${members.map((member) => member.join(':')).join(',')}}`;
}

/** Both orders of two things. */
export function bothOrders<Thing>(one: Thing, other: Thing): readonly (readonly [Thing, Thing])[] {
  return [
    [one, other],
    [other, one],
  ];
}

export const WEBHOOK = '{"url":"https://attacker.example/hook"}';
export const V1_MESSAGE = '{"messageId":"m-1","role":"ROLE_USER","parts":[{"text":"hello"}]}';
export const V03_MESSAGE =
  '{"kind":"message","messageId":"m-1","role":"user","parts":[{"kind":"text","text":"hello"}]}';

/** Where the generations keep a webhook in a message (A2A v0.1 to v1.0). */
export const WEBHOOK_NAMES: readonly string[] = [
  'pushNotification',
  'pushNotificationConfig',
  'taskPushNotificationConfig',
];

/** What a generation calls sending and streaming, a message of its own, and something that must not be asked. */
export interface Generation {
  readonly sends: string;
  readonly streams: string;
  readonly message: string;
  readonly denied: string;
}

export const V1: Generation = {
  sends: '"SendMessage"',
  streams: '"SendStreamingMessage"',
  message: V1_MESSAGE,
  denied: '"ListTasks"',
};
export const V03: Generation = {
  sends: '"message/send"',
  streams: '"message/stream"',
  message: V03_MESSAGE,
  denied: '"tasks/pushNotificationConfig/set"',
};
export const GENERATIONS: readonly Generation[] = [V1, V03];

const ENVELOPE: readonly Member[] = [
  ['"jsonrpc"', '"2.0"'],
  ['"id"', '1'],
];

/** A request of these members besides version and id. */
export function request(...members: readonly Member[]): string {
  return object(...ENVELOPE, ...members);
}

export const CONFIGURATION = '"configuration"';
export const SEND: Member = ['"method"', V1.sends];
export const LIST: Member = ['"method"', V1.denied];
export const MESSAGE: Member = ['"message"', V1_MESSAGE];
export const HOOK: Member = ['"taskPushNotificationConfig"', WEBHOOK];
/** Params without a webhook, and with one. */
export const PLAIN: string = object(MESSAGE);
export const HOOKED: string = object(MESSAGE, [CONFIGURATION, object(HOOK)]);
/** A request that may cross, and one that may not. */
export const SENT: string = request(SEND, ['"params"', PLAIN]);
export const DENIED: string = request(LIST, ['"params"', '{}']);
