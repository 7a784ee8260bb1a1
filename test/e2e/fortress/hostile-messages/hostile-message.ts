/** A message that tries to bypass the method policy. */
export interface HostileMessage {
  /** Header lines that declare the body. */
  readonly declares: readonly string[];
  readonly body: Uint8Array;
}

/** A name and a value of an object, both as raw JSON. */
export type Member = readonly [name: string, value: string];

/** An object built from raw names and values. */
export function object(...members: readonly Member[]): string {
  return `{${members.map((member) => member.join(':')).join(',')}}`;
}

export const WEBHOOK = '{"url":"https://attacker.example/hook"}';
export const V1_MESSAGE = '{"messageId":"m-1","role":"ROLE_USER","parts":[{"text":"hello"}]}';
export const V03_MESSAGE =
  '{"kind":"message","messageId":"m-1","role":"user","parts":[{"kind":"text","text":"hello"}]}';

/** The members of a message that contain a webhook (A2A v0.1 to v1.0). */
export const WEBHOOK_NAMES = ['pushNotification', 'pushNotificationConfig', 'taskPushNotificationConfig'];

/** A harmless request, without and with params. */
export const SEND = '{"jsonrpc":"2.0","id":1,"method":"SendMessage"}';
export const SENT: string = `${SEND.slice(0, -1)},"params":{"message":${V1_MESSAGE}}}`;
