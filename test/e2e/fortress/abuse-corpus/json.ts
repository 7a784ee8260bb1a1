import {
  type AbuseCase,
  type AbuseFamily,
  action,
  chat,
  record,
  refused,
  render,
  type SafeOutcome,
  slug,
  step,
} from './abuse-case.js';

const DUPLICATES = 'OWASP ASVS 5.0 1.5.3; RFC 8259 §4';
const PUSH = 'a2a-python issue 786';
const PROTOTYPE = 'CVE-2026-21710';
const CRASH = 'CVE-2024-21536';

/** Answered in JSON-RPC or refused as no request; the forbidden word never reaches the agent. */
function denied(...words: readonly string[]): SafeOutcome {
  return { statuses: [200, 400], platform: 'never', notUpstream: words };
}

/** Where a parser reads first, it decides on one of two values; that one is the only one that may go on. */
function deniedUnlessOne(...words: readonly string[]): Pick<AbuseCase, 'safe' | 'on'> {
  return { safe: denied(...words), on: { parsing: { platform: 'may' } } };
}

const MEMBERS = '"jsonrpc":"2.0","id":1';
const SEND = '"method":"SendMessage"';
const LIST = '"method":"ListTasks"';

const TWICE: readonly string[] = [
  `{${MEMBERS},${SEND},${LIST},"params":{}}`,
  `{${MEMBERS},${LIST},${SEND},"params":{}}`,
  `{${MEMBERS},${SEND},"Method":"ListTasks","params":{}}`,
  `{${MEMBERS},${SEND},"METHOD":"ListTasks","params":{}}`,
  `{${MEMBERS},${SEND},"m\\u0065thod":"ListTasks","params":{}}`,
  `{${MEMBERS},"m\\u0065thod":"ListTasks",${SEND},"params":{}}`,
];

const FORBIDDEN: readonly string[] = [
  'ListTasks',
  'tasks/list',
  'GetExtendedAgentCard',
  'agent/getAuthenticatedExtendedCard',
  'CreateTaskPushNotificationConfig',
  'tasks/pushNotificationConfig/set',
  'tasks/pushNotificationConfig/delete',
  'admin/reset',
  'sendmessage',
  'SendMessage ',
  ' SendMessage',
  'SendMessage\\u0000',
  'SendMessage\\n',
  '__proto__',
  'constructor',
  'toString',
  '',
];

const HOOKS: readonly string[] = [
  '"configuration":{"pushNotificationConfig":{"url":"http://{canary}/hook"}}',
  '"configuration":{"pushNotification":{"url":"http://{canary}/hook"}}',
  '"configuration":{"taskPushNotificationConfig":{"url":"http://{canary}/hook"}}',
  '"configuration":{"push_notification_config":{"url":"http://{canary}/hook"}}',
  '"configuration":{"PushNotificationConfig":{"url":"http://{canary}/hook"}}',
  '"Configuration":{"pushNotificationConfig":{"url":"http://{canary}/hook"}}',
  '"config\\u0075ration":{"pushNotificationConfi\\u0067":{"url":"http://{canary}/hook"}}',
];

const NO_JSON: readonly (readonly [what: string, body: string])[] = [
  ['nothing but a blank', ' '],
  ['half an object', '{"jsonrpc":'],
  ['a comma too many', '{"jsonrpc":"2.0",}'],
  ['a comment', '{/*x*/"jsonrpc":"2.0"}'],
  ['single quotes', "{'jsonrpc':'2.0'}"],
  ['NaN', '{"id":NaN}'],
  ['two values', '{}{}'],
  ['a second line', '{}\n{}'],
  ['NUL behind it', '{}\0'],
  ['no UTF-8', '{"jsonrpc":"2.0","id":"\xff\xfe","method":"SendMessage"}'],
  ['an overlong slash', '{"jsonrpc":"2.0","id":"\xc0\xaf","method":"SendMessage"}'],
  ['UTF-16', '\xff\xfe{\0}\0'],
  ['half a surrogate pair', '{"id":"\xed\xa0\x80","method":"SendMessage"}'],
  ['an open nest of 100,000', '['.repeat(100_000)],
];

const NO_REQUEST: readonly (readonly [what: string, body: string])[] = [
  ['null', 'null'],
  ['a text', '"SendMessage"'],
  ['a number', '1e400'],
  ['true', 'true'],
  ['a batch', `[{${MEMBERS},${LIST}}]`],
  ['an empty batch', '[]'],
  ['no method', `{${MEMBERS}}`],
  ['a method that is a list', `{${MEMBERS},"method":["ListTasks"]}`],
  ['a method that is an object', `{${MEMBERS},"method":{"toString":"ListTasks"}}`],
  ['a method of null', `{${MEMBERS},"method":null}`],
  ['an own prototype', `{"__proto__":{${SEND}},${MEMBERS}}`],
  ['nested lists of 100,000', `${'['.repeat(100_000)}${']'.repeat(100_000)}`],
];

const DEEP = `{"a":${'['.repeat(100_000)}${']'.repeat(100_000)}}`;

const CROSSING: readonly (readonly [what: string, body: string])[] = [
  ['an own prototype', `{${MEMBERS},${SEND},"params":{"__proto__":{"isAdmin":true}}}`],
  ['an own constructor', `{${MEMBERS},${SEND},"params":{"constructor":{"prototype":{"isAdmin":true}}}}`],
  ['names of every object', `{${MEMBERS},${SEND},"params":{"toString":1,"valueOf":2,"hasOwnProperty":3}}`],
  ['a nest of 5,000', `{${MEMBERS},${SEND},"params":${'{"a":'.repeat(5_000)}1${'}'.repeat(5_000)}}`],
  ['a long number', `{${MEMBERS},${SEND},"params":{"n":123456789012345678901234567890}}`],
  ['an id that is an object', `{"jsonrpc":"2.0","id":{"toString":"x"},${SEND},"params":{}}`],
  ['an id of 100 KB', `{"jsonrpc":"2.0","id":"${'i'.repeat(100_000)}",${SEND},"params":{}}`],
  [
    '50,000 names',
    `{${MEMBERS},${SEND},"params":{${Array.from({ length: 50_000 }, (_, i) => `"k${String(i)}":1`).join(',')}}}`,
  ],
];

/** Texts that two JSON readers understand differently, or that one does not survive. */
export const json: AbuseFamily = {
  name: 'JSON',
  cases: [
    ...TWICE.map((body, index): AbuseCase => ({
      id: `json-twice-${String(index)}`,
      tries: `show one method to the policy and another to the agent: ${body.slice(24)}`,
      fact: DUPLICATES,
      steps: [step(chat([], body))],
      ...deniedUnlessOne('ListTasks'),
    })),
    ...FORBIDDEN.map((method, index): AbuseCase => ({
      id: `json-method-${String(index)}-${slug(method)}`,
      tries: `call "${method}" with the site's own credential`,
      fact: 'docs/security.md; a2a-python issue 786',
      steps: [step(chat([], `{${MEMBERS},"method":"${method}","params":{}}`))],
      safe: denied(),
    })),
    ...HOOKS.map((hook, index): AbuseCase => ({
      id: `json-hook-${String(index)}`,
      tries: 'have the agent call an address of its own',
      fact: PUSH,
      steps: [step(chat([], `{${MEMBERS},${SEND},"params":{${hook},"message":{}}}`))],
      safe: denied('{canary}'),
    })),
    ...NO_JSON.flatMap(([what, body], index): AbuseCase[] =>
      Object.entries({ chat, render }).map(([name, make]) => ({
        id: `json-none-${name}-${String(index)}-${slug(what)}`,
        tries: `have a ${name} forwarded that is no JSON: ${what}`,
        fact: CRASH,
        steps: [step(make([], body))],
        safe: refused(400),
        // Its own idea of text: what it made JSON of is JSON when it goes on.
        on: {
          parsing: { statuses: [200, 400], platform: 'may', notUpstream: ['\xff', '\xc0\xaf', '\xed\xa0\x80', '\0'] },
        },
      })),
    ),
    ...NO_REQUEST.map(([what, body], index): AbuseCase => ({
      id: `json-request-${String(index)}-${slug(what)}`,
      tries: `have a chat forwarded that is no request: ${what}`,
      fact: what.includes('prototype') ? PROTOTYPE : CRASH,
      steps: [step(chat([], body))],
      safe: refused(200, 400),
      on: { parsing: { statuses: [200, 400] } },
    })),
    ...CROSSING.map(([what, body], index): AbuseCase => ({
      id: `json-odd-${String(index)}-${slug(what)}`,
      tries: `break the site by ${what}`,
      fact: what.includes('n own') || what.includes('names') ? PROTOTYPE : CRASH,
      steps: [step(chat([], body))],
      // A parser with a limit of its own may refuse it.
      safe: { statuses: [200, 400, 413], platform: 'may' },
      on: { parsing: { statuses: [200, 400, 413] } },
    })),
    ...Object.entries({ render, action }).map(([name, make]): AbuseCase => ({
      id: `json-deep-${name}`,
      tries: `break the site by a ${name} nested 100,000 deep`,
      fact: CRASH,
      steps: [step(make([], DEEP))],
      safe: refused(400),
      on: { parsing: { statuses: [400, 413] } },
    })),
    {
      id: 'json-bytes',
      tries: 'have its bytes changed on the way',
      fact: 'CVE-2025-32996',
      steps: [step(chat([], `{ "jsonrpc" : "2.0",\t"id":1.0,"method":"SendMessage","params":{"x":"\\u00fc"} }`))],
      safe: { statuses: [200], platform: 'must', upstream: ['"id":1.0,', '"\\u00fc"} }'] },
      on: { parsing: { upstream: ['"id":1'] } },
    },
    {
      id: 'json-record-multipart',
      tries: 'have an upload written anew',
      fact: 'CVE-2026-55603',
      steps: [
        step({
          ...record(['Content-Type: multipart/form-data; boundary=b']),
          method: 'POST',
          body: '--b\r\nContent-Disposition: form-data; name="a\r\nX: y"\r\n\r\n1\r\n--b--\r\n',
        }),
      ],
      safe: { statuses: [200], platform: 'must', upstream: ['name="a\r\nX: y"\r\n\r\n1\r\n--b--\r\n'] },
    },
  ],
};
