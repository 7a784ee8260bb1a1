import { CHAT_METHODS, type Reading } from '../../../support/other-readers/reading.js';
import type { Crossing } from './crossing.js';
import { V03_MESSAGE, V1_MESSAGE } from './hostile-message.js';

const MAX_KINDS = 60;
const MAX_WAYS = 10;
const LONGEST = 240;

/** Messages that try the same, in different ways. */
class Kind {
  readonly #messages = new Set<number>();
  readonly #ways = new Set<string>();
  readonly #readers = new Map<string, Set<string>>();

  add({ id, reader, method, push }: Reading, way: string): void {
    const what = push ? 'a webhook' : `the method ${JSON.stringify(method?.slice(0, 40))}`;
    this.#messages.add(id);
    if (way !== '') this.#ways.add(way);
    this.#readers.set(what, (this.#readers.get(what) ?? new Set()).add(reader));
  }

  told(title: string, crossed: readonly Crossing[]): string {
    const [first = 0] = this.#messages;
    const ways = this.#ways.size === 0 ? [] : [`with ${listed(this.#ways, MAX_WAYS)}`];
    const read = [...this.#readers].map(([what, who]) => `${what} for ${[...who].join(' ')}`);
    const lines = [
      `${String(this.#messages.size)} × ${title}`,
      ...ways,
      listed(read, 3),
      shown(crossed[first] as Crossing),
    ];
    return lines.join('\n    ');
  }
}

/** What readers find in messages that crossed and the policy forbids: a few lines for each kind of message, and one of them. Empty when they find nothing. */
export function violations(crossed: readonly Crossing[], readings: readonly Reading[]): string {
  const forbidden = readings.filter(({ method, push }) => method !== null && (push || !CHAT_METHODS.has(method)));
  const kinds = new Map<string, Kind>();
  for (const reading of forbidden) {
    const [title = '', way = ''] = (crossed[reading.id] as Crossing).sent.tries.split(' with ');
    const kind = kinds.get(title) ?? new Kind();
    kinds.set(title, kind);
    kind.add(reading, way);
  }
  if (kinds.size === 0) return '';
  const count = new Set(forbidden.map(({ id }) => id)).size;
  return [
    `${String(count)} of ${String(crossed.length)} messages that crossed:`,
    ...[...kinds].slice(0, MAX_KINDS).map(([title, kind]) => kind.told(title, crossed)),
    ...(kinds.size > MAX_KINDS ? [`and ${String(kinds.size - MAX_KINDS)} more kinds`] : []),
  ].join('\n');
}

function listed(texts: Iterable<string>, most: number): string {
  const all = [...texts];
  return [...all.slice(0, most), ...(all.length > most ? [`${String(all.length - most)} more`] : [])].join('; ');
}

function shown({ contentType, body }: Crossing): string {
  const text = Buffer.from(body)
    .toString('latin1')
    .replaceAll(V1_MESSAGE, '{…}')
    .replaceAll(V03_MESSAGE, '{…}')
    .replaceAll(/(a{20})a+/g, '$1…')
    .replaceAll(/[^ -~…]/g, (byte) => `\\x${byte.charCodeAt(0).toString(16).padStart(2, '0')}`);
  return `${contentType} ${text.slice(0, LONGEST)}`;
}
