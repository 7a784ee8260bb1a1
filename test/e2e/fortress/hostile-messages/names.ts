import {
  bothOrders,
  CONFIGURATION,
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
  V03,
  V1,
  WEBHOOK,
  WEBHOOK_NAMES,
} from './hostile-message.js';
import { spellings } from './spellings.js';

/** Names that are written otherwise or more than once. */
export function names(): readonly HostileMessage[] {
  return [...spelledWebhooks(), ...spelledMembers(), ...repeatedNames()];
}

function spelledWebhooks(): HostileMessage[] {
  const names = [
    ...WEBHOOK_NAMES,
    ...WEBHOOK_NAMES.map((name) => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)),
  ];
  const ofNames = names.flatMap((name) =>
    spellings(name).map(({ how, written }, index) => {
      const { sends, message } = index % 2 === 0 ? V1 : V03;
      const configuration = object([`"${written}"`, WEBHOOK]);
      const params = object(['"message"', message], [CONFIGURATION, configuration]);
      return hostile(`webhook with ${how}`, request(['"method"', sends], ['"params"', params]));
    }),
  );
  const values = [
    '""',
    '"https://attacker.example"',
    '0',
    'true',
    'false',
    '[]',
    '{}',
    `[${WEBHOOK}]`,
    'null',
    '[null]',
  ];
  const ofValues = names.flatMap((name) =>
    values.map((value) =>
      hostile(
        `webhook that is ${value}`,
        request(SEND, ['"params"', object(MESSAGE, [CONFIGURATION, object([`"${name}"`, value])])]),
      ),
    ),
  );
  return [...ofNames, ...ofValues];
}

/** A second member beside the real one, whose name is the real one's to somebody. */
function spelledMembers(): HostileMessage[] {
  return [
    ...spellings('method')
      .slice(1)
      .flatMap(({ how, written }) =>
        bothOrders<Member>(SEND, [`"${written}"`, V1.denied]).map((members) =>
          hostile(`second method with ${how}`, request(...members, ['"params"', PLAIN])),
        ),
      ),
    ...spellings('params')
      .slice(1)
      .flatMap(({ how, written }) => [
        ...bothOrders<Member>(['"params"', PLAIN], [`"${written}"`, HOOKED]).map((members) =>
          hostile(`second params with ${how}`, request(SEND, ...members)),
        ),
        hostile(`params alone with ${how}`, request(SEND, [`"${written}"`, HOOKED])),
      ]),
    ...spellings('configuration')
      .slice(1)
      .flatMap(({ how, written }) => [
        ...bothOrders<Member>([CONFIGURATION, '{}'], [`"${written}"`, object(HOOK)]).map((members) =>
          hostile(`second configuration with ${how}`, request(SEND, ['"params"', object(MESSAGE, ...members)])),
        ),
        hostile(
          `configuration alone with ${how}`,
          request(SEND, ['"params"', object(MESSAGE, [`"${written}"`, object(HOOK)])]),
        ),
      ]),
    ...spellings('SendMessage')
      .slice(1)
      .map(({ how, written }) =>
        hostile(`method value with ${how}`, request(['"method"', `"${written}"`], ['"params"', PLAIN])),
      ),
    ...spellings('ListTasks').map(({ how, written }) =>
      hostile(`denied method with ${how}`, request(['"method"', `"${written}"`], ['"params"', '{}'])),
    ),
  ];
}

function repeatedNames(): HostileMessage[] {
  const methods = bothOrders(SEND, LIST).map((members) =>
    hostile('method twice', request(...members, ['"params"', PLAIN])),
  );
  const params = [HOOKED, object([CONFIGURATION, object(HOOK)])].flatMap((hooked) =>
    bothOrders<Member>(['"params"', PLAIN], ['"params"', hooked]).map((members) =>
      hostile('params twice', request(SEND, ...members)),
    ),
  );
  const configurations = ['{}', 'null', '{"blocking":true}'].flatMap((other) =>
    bothOrders<Member>([CONFIGURATION, other], [CONFIGURATION, object(HOOK)]).map((members) =>
      hostile('configuration twice', request(SEND, ['"params"', object(MESSAGE, ...members)])),
    ),
  );
  const webhooks = WEBHOOK_NAMES.flatMap((name) =>
    bothOrders<Member>([`"${name}"`, 'null'], [`"${name}"`, WEBHOOK]).map((members) =>
      hostile('webhook twice', request(SEND, ['"params"', object(MESSAGE, [CONFIGURATION, object(...members)])])),
    ),
  );
  const pairs = WEBHOOK_NAMES.flatMap((name) => {
    const snake = name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    return bothOrders<Member>([`"${name}"`, 'null'], [`"${snake}"`, WEBHOOK]).map((members) =>
      hostile(
        'webhook in both spellings',
        request(SEND, ['"params"', object(MESSAGE, [CONFIGURATION, object(...members)])]),
      ),
    );
  });
  return [...methods, ...params, ...configurations, ...webhooks, ...pairs];
}
