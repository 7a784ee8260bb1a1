import {
  CONFIGURATION,
  DENIED,
  HOOK,
  HOOKED,
  hostile,
  type HostileMessage,
  LIST,
  type Member,
  MESSAGE,
  object,
  PLAIN,
  request,
  SEND,
  SENT,
  V03,
  V1,
  V1_MESSAGE,
  WEBHOOK,
  WEBHOOK_NAMES,
} from './hostile-message.js';

/** Messages of another shape, and with a webhook at another place. */
export function shapes(): readonly HostileMessage[] {
  return [...otherContainers(), ...otherPlaces(), ...largeMessages()];
}

/** Readers that build objects from what is none, or look into it. */
function otherContainers(): HostileMessage[] {
  const pairs = `[["taskPushNotificationConfig",${WEBHOOK}]]`;
  const text = (json: string): string => JSON.stringify(json);
  const inParams = (value: string): string => request(SEND, ['"params"', value]);
  const configurations = [
    `[${object(HOOK)}]`,
    pairs,
    `[[${object(HOOK)}]]`,
    text(object(HOOK)),
    `[${text('taskPushNotificationConfig')},${WEBHOOK}]`,
    `{"0":${object(HOOK)}}`,
    `{"":${object(HOOK)}}`,
    `{"value":${object(HOOK)}}`,
    `["text/plain",${WEBHOOK},null,true]`,
    'true',
    '0',
    '[]',
    '""',
  ];
  const params = [
    `[${HOOKED}]`,
    `[["message",${V1_MESSAGE}],["configuration",${object(HOOK)}]]`,
    text(HOOKED),
    `[${V1_MESSAGE},${object(HOOK)}]`,
    'null',
    '[]',
    '""',
    '0',
    'true',
    `{"params":${HOOKED}}`,
    `{"request":${HOOKED}}`,
    `{"value":${HOOKED}}`,
    `{"0":${HOOKED}}`,
  ];
  const bodies = [
    `[${DENIED}]`,
    `[${SENT},${DENIED}]`,
    `[${DENIED},${SENT}]`,
    `[[${DENIED}]]`,
    '[]',
    '{}',
    'null',
    '""',
    '0',
    text(DENIED),
    '["2.0",1,"ListTasks",{}]',
    '["2.0","ListTasks",{},1]',
    `[["jsonrpc","2.0"],["id",1],["method","ListTasks"],["params",{}]]`,
    `{"request":${DENIED}}`,
    `{"body":${DENIED},"method":"SendMessage"}`,
    `{"0":${DENIED},"method":"SendMessage"}`,
    `{"__proto__":${DENIED},"jsonrpc":"2.0","id":1,"params":${PLAIN}}`,
    `{"__proto__":${DENIED},${SENT.slice(1)}`,
    `{"constructor":{"prototype":${DENIED}},${SENT.slice(1)}`,
    `{"toJSON":${DENIED},${SENT.slice(1)}`,
  ];
  const methods = ['null', '0', 'true', '["ListTasks"]', '{"method":"ListTasks"}', '["SendMessage"]', '""', '{}'];
  return [
    ...configurations.map((value) =>
      hostile(`configuration that is ${value.slice(0, 20)}`, inParams(object(MESSAGE, [CONFIGURATION, value]))),
    ),
    ...params.map((value) => hostile(`params that are ${value.slice(0, 20)}`, inParams(value))),
    ...bodies.map((value) => hostile(`body that is ${value.slice(0, 24)}`, value)),
    ...methods.map((value) => hostile(`method that is ${value}`, request(['"method"', value], ['"params"', HOOKED]))),
    ...methods.map((value) =>
      hostile(`method twice, once ${value}`, request(['"method"', value], SEND, LIST, ['"params"', PLAIN])),
    ),
  ];
}

/** A webhook where only some generation, or nobody, looks for it. */
function otherPlaces(): HostileMessage[] {
  return WEBHOOK_NAMES.flatMap((name) => {
    const hook: Member = [`"${name}"`, WEBHOOK];
    const configured: Member = [CONFIGURATION, object(hook)];
    const message = (...members: readonly Member[]): Member => [
      '"message"',
      `${V1_MESSAGE.slice(0, -1)},${object(...members).slice(1)}`,
    ];
    const places: readonly (readonly [place: string, params: string])[] = [
      ['params', object(MESSAGE, hook)],
      ['message', object(message(hook))],
      ['message.configuration', object(message(configured))],
      ['request', object(['"request"', V1_MESSAGE], configured)],
      ['request and message', object(['"request"', object(configured)], MESSAGE, configured)],
      ['request.configuration', object(['"request"', object(MESSAGE, configured)], MESSAGE)],
      ['metadata', object(MESSAGE, ['"metadata"', object(hook)])],
      ['metadata.configuration', object(MESSAGE, ['"metadata"', object(configured)])],
      ['configuration.configuration', object(MESSAGE, [CONFIGURATION, object(configured)])],
      ['config', object(MESSAGE, ['"config"', object(hook)])],
      ['options', object(MESSAGE, ['"options"', object(hook)])],
      ['sendMessageConfiguration', object(MESSAGE, ['"sendMessageConfiguration"', object(hook)])],
      ['params.params', object(MESSAGE, ['"params"', object(configured)])],
    ];
    return [
      ...places.flatMap(([place, params]) =>
        [V1.sends, V03.streams].map((method) =>
          hostile(`webhook in ${place}`, request(['"method"', method], ['"params"', params])),
        ),
      ),
      hostile('webhook in the envelope', request(SEND, ['"params"', PLAIN], hook)),
      hostile('configuration in the envelope', request(SEND, ['"params"', PLAIN], configured)),
      ...['"GetTask"', '"tasks/get"', '"CancelTask"', '"tasks/resubscribe"'].map((method) =>
        hostile(
          'webhook in a request about a task',
          request(['"method"', method], ['"params"', object(['"id"', '"t-1"'], configured)]),
        ),
      ),
    ];
  });
}

/** What lies beside, below or behind something large. */
function largeMessages(): HostileMessage[] {
  const long = 'a'.repeat(6_000);
  const parts = (text: string): Member => [
    '"message"',
    `{"messageId":"m-1","role":"ROLE_USER","parts":[{"text":"${text}"}]}`,
  ];
  const texts = [long, `${long}\\"`, `${long}\\\\`, `\\u0022${long}`, `${long}\\u0022,`, `é${long}`, `${long}\u2028`];
  const inside = texts.flatMap((text) => [
    hostile(
      'webhook behind a long text',
      request(SEND, ['"params"', object(parts(text), [CONFIGURATION, object(HOOK)])]),
    ),
    hostile(
      'webhook whose name is long',
      request(SEND, ['"params"', object(MESSAGE, [CONFIGURATION, object([`"${text}"`, '1'], HOOK)])]),
    ),
    hostile(
      'folded webhook behind a long text',
      request(SEND, [
        '"params"',
        object(parts(text), [CONFIGURATION, object(['"taſkPuſhNotificationConfig"', WEBHOOK])]),
      ]),
    ),
    hostile('method behind a long text', request(['"x"', `["${text}"]`], SEND, LIST)),
    hostile('method that is long', request(['"method"', `"${text}"`], SEND)),
  ]);
  const deep = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);
  const nested = [10, 100, 1_000, 20_000].flatMap((depth) => [
    hostile('method behind deep nesting', request(['"x"', deep(depth)], SEND, LIST)),
    hostile(
      'deep nesting in the message',
      request(SEND, ['"params"', object(['"message"', deep(depth)], [CONFIGURATION, object(HOOK)])]),
    ),
    hostile('deep nesting that does not end', '['.repeat(depth)),
    hostile(
      'deep objects',
      request(SEND, ['"params"', `${'{"configuration":'.repeat(depth)}${object(HOOK)}${'}'.repeat(depth)}`]),
    ),
  ]);
  const numbers = ['1e400', '-1e400', '9007199254740993', '1'.repeat(5_000), '0.1e-400', '-0', '1E+2'].map((number) =>
    hostile(`id ${number.slice(0, 20)}`, object(['"jsonrpc"', '"2.0"'], ['"id"', number], SEND, ['"params"', PLAIN])),
  );
  const many = Array.from({ length: 2_000 }, (_, index): Member => [`"n${String(index)}"`, '""']);
  return [
    ...inside,
    ...nested,
    ...numbers,
    hostile(
      'webhook behind many members',
      request(SEND, ['"params"', object(MESSAGE, ...many, [CONFIGURATION, object(HOOK)])]),
    ),
    hostile(
      'folded webhook behind many members',
      request(SEND, ['"params"', object(MESSAGE, [CONFIGURATION, object(...many, ['"PuſhNotification"', WEBHOOK])])]),
    ),
  ];
}
