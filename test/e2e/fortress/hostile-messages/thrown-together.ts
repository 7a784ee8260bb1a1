import fc from 'fast-check';
import { RECORDED_CLIENTS } from '../../../support/recorded-messages.js';
import { CHARSETS, declarations, DISGUISES } from './declarations.js';
import { type TwoFacedBody, twoFaced, utf16be, utf7, utf7Imap } from './encodings.js';
import {
  type HostileMessage,
  type Member,
  object,
  SEND,
  SENT,
  V03_MESSAGE,
  V1_MESSAGE,
  WEBHOOK,
  WEBHOOK_NAMES,
} from './hostile-message.js';
import { spellings } from './spellings.js';

const methodValue = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.constantFrom('"SendMessage"', '"SendStreamingMessage"', '"message/send"', '"message/stream"'),
  },
  { weight: 2, arbitrary: fc.constantFrom('"GetTask"', '"tasks/get"', '"CancelTask"', '"tasks/resubscribe"') },
  { weight: 1, arbitrary: fc.constantFrom('"ListTasks"', '"tasks/list"', '"GetExtendedAgentCard"') },
  { weight: 1, arbitrary: fc.constantFrom('"tasks/send"', 'null', '["ListTasks"]') },
  { weight: 1, arbitrary: spelled('SendMessage') },
);

const anything = fc.oneof(
  fc.constantFrom('null', '""', '0', '1e400', '[]', '{}', 'true', '"\\ud800"', '"…"', '-0', `"${'a'.repeat(5_000)}"`),
  fc.json({ maxDepth: 2 }),
);

/** A member's name: correct, in a spelling for parsers that fold names, or in any spelling. */
function spelled(name: string): fc.Arbitrary<string> {
  const ways = spellings(name).slice(1);
  const folded = ways.filter((way) => folds(JSON.parse(`"${way}"`) as string, name));
  return fc.oneof(
    { weight: 6, arbitrary: fc.constant(`"${name}"`) },
    { weight: 3, arbitrary: fc.constantFrom(...folded.map((way) => `"${way}"`)) },
    { weight: 1, arbitrary: fc.constantFrom(...ways.map((way) => `"${way}"`)) },
  );
}

function folds(one: string, other: string): boolean {
  return one.toUpperCase() === other.toUpperCase() || one.toLowerCase() === other.toLowerCase();
}

const webhook: fc.Arbitrary<Member> = fc
  .constantFrom(...WEBHOOK_NAMES)
  .chain((name) => fc.tuple(spelled(name), fc.oneof({ weight: 4, arbitrary: fc.constant(WEBHOOK) }, anything)));

const extra: fc.Arbitrary<Member> = fc.tuple(
  fc.constantFrom(...'"blocking" "historyLength" "metadata" "tenant" "x" "" "__proto__" "constructor"'.split(' ')),
  anything,
);

/** An object of these members in some order, or a value that some parser converts to one. */
function container(members: fc.Arbitrary<readonly Member[]>): fc.Arbitrary<string> {
  return fc
    .tuple(members.chain(shuffled), fc.constantFrom(...Array<number>(20).fill(0), 1, 2, 3, 4, 5))
    .map(([inner, form]) => {
      const written = object(...inner);
      if (form === 1) return `[${written}]`;
      if (form === 2) return `[${inner.map((member) => `[${member.join(',')}]`).join(',')}]`;
      if (form === 3) return JSON.stringify(written);
      if (form === 4) return `[${inner.map(([, value]) => value).join(',')}]`;
      return form === 5 ? `{"value":${written}}` : written;
    });
}

function shuffled(members: readonly Member[]): fc.Arbitrary<readonly Member[]> {
  return fc.shuffledSubarray([...members], { minLength: members.length });
}

const configuration: fc.Arbitrary<Member> = fc.tuple(
  spelled('configuration'),
  container(
    fc.tuple(fc.array(webhook, { maxLength: 2 }), fc.array(extra, { maxLength: 1 })).map((lists) => lists.flat()),
  ),
);

const message: fc.Arbitrary<Member> = fc.tuple(
  fc.oneof(fc.constant('"message"'), fc.constantFrom('"request"', '"Message"', '"meſſage"')),
  fc.constantFrom(V1_MESSAGE, V03_MESSAGE, `{"messageId":"m-1","configuration":{"pushNotificationConfig":${WEBHOOK}}}`),
);

const params: fc.Arbitrary<Member> = fc.tuple(
  spelled('params'),
  container(
    fc
      .tuple(message, fc.array(configuration, { maxLength: 2 }), fc.array(fc.oneof(extra, webhook), { maxLength: 1 }))
      .map(([first, configurations, others]) => [first, ...configurations, ...others]),
  ),
);

const method: fc.Arbitrary<Member> = fc.tuple(spelled('method'), methodValue);

const envelope: fc.Arbitrary<string> = container(
  fc
    .tuple(
      fc.tuple(fc.constant('"method"'), methodValue),
      fc.array(params, { minLength: 1, maxLength: 2 }),
      fc.array(fc.oneof(method, extra, configuration), { maxLength: 2 }),
      fc.constantFrom('1', '"a"', 'null', '1.5', '"\\u0000"'),
    )
    .map(
      ([first, several, others, id]) => [['"jsonrpc"', '"2.0"'], ['"id"', id], first, ...several, ...others] as const,
    ),
);

/** Changes to a whole text; the number is the position. */
const CHANGES: readonly ((text: string, place: number) => string)[] = [
  (text) => `\ufeff${text}`,
  (text) => `${text}\n{"jsonrpc":"2.0","id":2,"method":"ListTasks","params":{}}`,
  (text) => `[${text},${text}]`,
  (text) => text.replace(/}$/, ',}'),
  (text, place) => insertedAt(text, place, '/* */'),
  (text, place) => insertedAt(text, place, '\0'),
  (text, place) => insertedAt(text, place, '"'),
  (text, place) => insertedAt(text, place, '\\'),
  (text, place) => insertedAt(text, place, ' '),
  (text, place) => insertedAt(text, place, '\u200b'),
  (text, place) => text.slice(0, place % text.length),
  (text, place) => text.replaceAll('"', place % 2 === 0 ? "'" : '"'),
  (text, place) => replacedAt(text, place, (letter) => letter.toUpperCase()),
  (text, place) => replacedAt(text, place, (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`),
  (text, place) => replacedAt(text, place, (letter) => utf7(letter, () => true)),
  (text, place) => replacedAt(text, place, (letter) => utf7Imap(letter, () => true)),
  (text) => utf7(text, (character) => !/[\w{},:"]/.test(character)),
  (text) => `{"x":"${'a'.repeat(4_200)}",${text.slice(1)}`,
];

function insertedAt(text: string, place: number, more: string): string {
  const position = place % text.length;
  return text.slice(0, position) + more + text.slice(position);
}

/** Replaces the first letter after a position with another spelling. */
function replacedAt(text: string, place: number, written: (letter: string) => string): string {
  const position = text.slice(place % text.length).search(/[a-z]/i) + (place % text.length);
  return text.slice(0, position) + written(text.charAt(position)) + text.slice(position + 1);
}

const change = fc.tuple(fc.constantFrom(...CHANGES), fc.nat(2_000));
const changes = fc.oneof({ weight: 2, arbitrary: fc.constant([]) }, fc.array(change, { minLength: 1, maxLength: 2 }));

const declared: fc.Arbitrary<readonly string[]> = fc.oneof(
  { weight: 6, arbitrary: fc.constant(['Content-Type: application/json']) },
  {
    weight: 3,
    arbitrary: fc.constantFrom(...CHARSETS).chain((charset) => fc.constantFrom(...declarations(charset))),
  },
  { weight: 1, arbitrary: fc.constantFrom(...DISGUISES) },
);

const encoding: fc.Arbitrary<(text: string) => Buffer> = fc.constantFrom(
  ...Array<(text: string) => Buffer>(14).fill((text) => Buffer.from(text)),
  (text: string) => Buffer.from(text, 'utf16le'),
  utf16be,
  (text: string) => Buffer.from(utf7(text, (character) => character === '"')),
  (text: string) => Buffer.from(text, 'latin1'),
);

/** A text with random changes, encoding and declaration. */
function disguised(text: fc.Arbitrary<string>): fc.Arbitrary<HostileMessage> {
  return fc.tuple(text, changes, encoding, declared).map(([original, list, encoded, declares]) => {
    const written = list.reduce((result, [made, place]) => (result === '' ? result : made(result, place)), original);
    return { declares, body: encoded(written) };
  });
}

const recorded = fc.constantFrom(...RECORDED_CLIENTS.flatMap(({ messages }) => messages.map(({ body }) => body)));

/** A harmless request that contains another one, visible to some decoders only. */
const veiled: fc.Arbitrary<HostileMessage> = fc
  .tuple(fc.constantFrom(SENT, SEND), fc.oneof(method, params), fc.nat(), fc.nat())
  .chain(([shown, hidden, face, charset]) => {
    const faces = twoFaced(shown.slice(0, -1), hidden.join(':'));
    const { body, charsets } = faces[face % faces.length] as TwoFacedBody;
    const ways = declarations(charsets[charset % charsets.length] as string);
    return fc.constantFrom(...ways).map((declares) => ({ declares, body }));
  });

/** Random messages whose spelling, structure, charset or encoding some parser may read as a denied method. */
export const thrownTogether: fc.Arbitrary<HostileMessage> = fc.oneof(
  { weight: 5, arbitrary: disguised(envelope) },
  { weight: 2, arbitrary: disguised(recorded) },
  { weight: 1, arbitrary: veiled },
);
