import { describe, expect, it } from 'vitest';
import { RECORDED_CLIENTS } from '../../support/recorded-messages.js';
import { READER_FAMILIES } from '../../support/other-readers/other-readers.js';
import { CHAT_METHODS, type CrossedMessage, PUSH_NAMES, type Reading } from '../../support/other-readers/reading.js';
import {
  CONFIGURATION,
  GENERATIONS,
  HOOK,
  LIST,
  MESSAGE,
  object,
  request,
  SENT,
  WEBHOOK,
} from './hostile-messages/hostile-message.js';

function message(body: string, contentType = 'application/json'): CrossedMessage {
  return { contentType, body: Buffer.from(body) };
}

const CONFIGURED = GENERATIONS.flatMap(({ sends, message: said }) =>
  PUSH_NAMES.map((name) => {
    const configuration = object([`"${name}"`, WEBHOOK]);
    return request(['"method"', sends], ['"params"', object(['"message"', said], [CONFIGURATION, configuration])]);
  }),
);
const UNCONFIGURED = GENERATIONS.map(({ sends, message: said }) =>
  request(['"method"', sends], ['"params"', object(['"message"', said])]),
);
const DENIED = GENERATIONS.map(({ denied }) =>
  request(['"method"', denied], ['"params"', `{"taskId":"t-1","pushNotificationConfig":${WEBHOOK}}`]),
);

/** Compiling and sixteen servers take their time on a busy machine. */
const SLOW_MS = 120_000;

/** What some readers are known for, and what a policy must not overlook. */
const KNOWN: readonly (readonly [family: string, what: string, message: CrossedMessage, read: object])[] = [
  [
    'Node',
    'UTF-7',
    message(`${SENT.slice(0, -1)},"+AG0-ethod":"ListTasks"}`, 'application/json; charset=utf-7'),
    { method: 'ListTasks' },
  ],
  [
    'Python',
    'UTF-7',
    message(`${SENT.slice(0, -1)},"+AG0-ethod":"ListTasks"}`, 'application/json; charset=utf-7'),
    { method: 'ListTasks' },
  ],
  [
    'Python',
    'UTF-16',
    { contentType: 'application/json', body: Buffer.from(request(LIST), 'utf16le') },
    { method: 'ListTasks' },
  ],
  [
    'Python',
    'pairs for an object',
    message(
      request(
        ['"method"', '"SendMessage"'],
        ['"params"', object(MESSAGE, [CONFIGURATION, `[["pushNotificationConfig",${WEBHOOK}]]`])],
      ),
    ),
    { push: true },
  ],
  ['Go', 'ſ for s', message(`${SENT.slice(0, -1)},"paramſ":${object([CONFIGURATION, object(HOOK)])}}`), { push: true }],
  [
    'Go',
    'K for k',
    message(
      request(
        ['"method"', '"SendMessage"'],
        ['"params"', object([CONFIGURATION, object(['"tas\\u212aPushNotificationConfig"', WEBHOOK])])],
      ),
    ),
    { push: true },
  ],
  ['Go', 'the first of two messages', message(`${request(LIST)}${SENT}`), { method: 'ListTasks' }],
];

describe.each(READER_FAMILIES)('every reader in $name', ({ name, read, installed }) => {
  it.skipIf(!installed)(
    'reads a chat message, sees its webhook, and carries out other methods',
    async () => {
      const readings = await read([...CONFIGURED, ...UNCONFIGURED, ...DENIED].map((body) => message(body)));
      const whoReads = (
        bodies: readonly string[],
        from: number,
        fits: (reading: Reading) => boolean,
      ): readonly string[] =>
        namesOf(readings.filter((reading) => reading.id >= from && reading.id < from + bodies.length && fits(reading)));
      const everybody = namesOf(readings);
      const isChat = ({ method }: Reading): boolean => method !== null && CHAT_METHODS.has(method);
      expect(whoReads(CONFIGURED, 0, (reading) => isChat(reading) && reading.push)).toEqual(everybody);
      expect(whoReads(UNCONFIGURED, CONFIGURED.length, (reading) => isChat(reading) && !reading.push)).toEqual(
        everybody,
      );
      const denied = CONFIGURED.length + UNCONFIGURED.length;
      expect(whoReads(DENIED, denied, (reading) => reading.method !== null && !isChat(reading))).toEqual(everybody);
    },
    SLOW_MS,
  );

  it.skipIf(!installed)(
    'finds nothing but chat in the recorded messages',
    async () => {
      const bodies = RECORDED_CLIENTS.flatMap(({ messages }) => messages.map(({ body }) => body));
      const readings = await read(bodies.map((body) => message(body)));
      const others = readings.filter(({ method, push }) => push || (method !== null && !CHAT_METHODS.has(method)));
      expect(others).toEqual([]);
    },
    SLOW_MS,
  );

  const known = KNOWN.filter(([family]) => family === name);
  it.skipIf(!installed)(
    `or some of them, reads ${known.map(([, what]) => what).join(', ')}`,
    async () => {
      const readings = await read(known.map(([, , sent]) => sent));
      for (const [id, [, , , seen]] of known.entries()) {
        expect(readings).toContainEqual(expect.objectContaining({ id, ...seen }));
      }
    },
    SLOW_MS,
  );
});

function namesOf(readings: readonly Reading[]): readonly string[] {
  return [...new Set(readings.map(({ reader }) => reader))].sort();
}
