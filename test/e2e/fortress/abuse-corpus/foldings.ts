import { type AbuseCase, type AbuseFamily, chat, type SafeOutcome, step } from './abuse-case.js';

const FOLDED = 'golang/go issue 14750; OWASP ASVS 5.0 1.5.3';
const HOOK = '{"url":"http://{canary}/hook"}';
const SEND = '"jsonrpc":"2.0","id":1,"method":"SendMessage"';

/** UTF-8 as the corpus writes it: one character for each byte. */
const bytes = (text: string): string => Buffer.from(text).toString('latin1');

const SPELLINGS: readonly (readonly [what: string, spell: (name: string) => string])[] = [
  ['capitals', (name) => name.toUpperCase()],
  ['a capital first', (name) => name.charAt(0).toUpperCase() + name.slice(1)],
  ['a long s', (name) => name.replace('s', '\u017F')],
  ['a long s as an escape', (name) => name.replace('s', '\\u017f')],
  ['the Kelvin sign', (name) => name.replace('k', '\u212A')],
  ['a dotless i', (name) => name.replace('i', '\u0131')],
  ['full width', (name) => String.fromCodePoint((name.codePointAt(0) ?? 0) + 0xfee0) + name.slice(1)],
  ['a space behind', (name) => `${name} `],
  ['a NUL behind', (name) => `${name}\\u0000`],
  ['an invisible space', (name) => `${name}\u200B`],
  ['snake case', (name) => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)],
  ['kebab case', (name) => name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)],
];

/** A member beside the one the policy reads, at each level that matters. */
const PLACES: readonly (readonly [level: string, member: string, message: (name: string) => string])[] = [
  ['envelope', 'method', (name) => `{${SEND},"${name}":"ListTasks","params":{}}`],
  [
    'envelope',
    'params',
    (name) => `{${SEND},"params":{},"${name}":{"configuration":{"pushNotificationConfig":${HOOK}}}}`,
  ],
  [
    'params',
    'configuration',
    (name) => `{${SEND},"params":{"configuration":{},"${name}":{"pushNotificationConfig":${HOOK}}}}`,
  ],
  ['message', 'taskId', (name) => `{${SEND},"params":{"message":{"taskId":"mine","${name}":"{canary}"}}}`],
  [
    'configuration',
    'pushNotificationConfig',
    (name) => `{${SEND},"params":{"configuration":{"pushNotificationConfig":null,"${name}":${HOOK}}}}`,
  ],
];

const KINDS: readonly string[] = [
  `{${SEND},"params":[{"configuration":{"pushNotificationConfig":${HOOK}}}]}`,
  `{${SEND},"params":{"configuration":[{"pushNotificationConfig":${HOOK}}]}}`,
  `{${SEND},"params":{"configuration":"{\\"pushNotificationConfig\\":${HOOK.replaceAll('"', '\\"')}}"}}`,
  `{${SEND},"params":{"message":[{"taskId":"{canary}"}]}}`,
  `{${SEND},"params":{"pushNotification":${HOOK}}}`,
  `{${SEND},"params":{"message":{"taskId":"mine"},"request":{"taskId":"{canary}"}}}`,
  `{${SEND},"params":{"__proto__":{"configuration":{"pushNotificationConfig":${HOOK}}}}}`,
  `["2.0",1,"ListTasks",{}]`,
];

const SAFE: SafeOutcome = { statuses: [200, 400], platform: 'never', notUpstream: ['{canary}', 'ListTasks'] };

/** Names that a lenient reader takes for those of the policy, and kinds that it unwraps. */
export const foldings: AbuseFamily = {
  name: 'foldings',
  cases: [
    ...PLACES.flatMap(([level, member, message]) =>
      SPELLINGS.filter(([, spell]) => spell(member) !== member).map(([what, spell]): AbuseCase => ({
        id: `fold-${level}-${member}-${what.replaceAll(' ', '-')}`,
        tries: `hide a second "${member}" of the ${level} by ${what}`,
        fact: FOLDED,
        steps: [step(chat([], bytes(message(spell(member)))))],
        safe: SAFE,
      })),
    ),
    ...KINDS.map((message, index): AbuseCase => ({
      id: `fold-kind-${String(index)}`,
      tries: `hide members where the policy does not look: ${message.slice(0, 90)}`,
      fact: FOLDED,
      steps: [step(chat([], message))],
      safe: SAFE,
      // A parser that refuses such a name says so with its own status.
      on: { parsing: { statuses: [200, 400, 500] } },
    })),
  ],
};
