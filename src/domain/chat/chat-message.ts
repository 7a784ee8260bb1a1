import { RequestError } from '../shared/errors.js';
import { JsonCursor, type JsonSpan, JsonTextError, MAX_JSON_DEPTH } from '../shared/json-cursor.js';

/** A member that parsers act on, and one of its spellings. */
interface MemberName {
  /** Its name in the specification; undefined if no parser reads the name as a member of this level. */
  readonly member: string | undefined;
  /** The name as a lenient parser reads it. */
  readonly folded: string;
  /** Its text for the exact spelling, which every parser reads as this member; otherwise undefined. */
  readonly spelling: string | undefined;
}

/** The members of one level of a message, by spelling. */
class MemberNames {
  /** The exact spellings as bytes, by length and first byte: a name that is one of them need not become a text. */
  readonly #exact = new Map<number, { readonly bytes: Uint8Array; readonly name: MemberName }[]>();
  readonly #folded = new Map<string, string>();

  /**
   * Takes names in camelCase and adds their snake_case forms: parsers generated from protocol buffers accept both
   * (ProtoJSON). Aliases are additional names of a member.
   */
  constructor(names: readonly string[], aliases: Readonly<Record<string, string>> = {}) {
    for (const name of names) {
      this.#add(name, name);
      this.#add(
        name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
        name,
      );
    }
    for (const [alias, name] of Object.entries(aliases)) this.#add(alias, name);
  }

  #add(spelling: string, member: string): void {
    const folded = normalizedName(spelling);
    const bytes = new TextEncoder().encode(spelling);
    const key = bytes.length * 256 + (bytes[0] ?? 0);
    const alike = this.#exact.get(key) ?? [];
    this.#exact.set(key, [...alike, { bytes, name: { member, folded, spelling } }]);
    this.#folded.set(folded, member);
  }

  /** Looks up a name by its bytes between the quotes, escapes included. */
  find(bytes: Uint8Array, { start, end }: JsonSpan): MemberName {
    for (const { bytes: spelling, name } of this.#exact.get((end - start) * 256 + (bytes[start] ?? 0)) ?? NONE) {
      let same = 0;
      while (same < spelling.length && bytes[start + same] === spelling[same]) same += 1;
      if (same === spelling.length) return name;
    }
    const name = spelled(decodedText(bytes, { start, end }));
    const folded = normalizedName(name);
    // Assigning `__proto__` while copying sets the prototype, whose members are then read as the message's own.
    const known = this.#folded.get(folded) ?? this.#folded.get(normalizedName(name.split('\0', 1)[0] ?? ''));
    return { member: name === '__proto__' ? name : known, folded, spelling: undefined };
  }
}

const NONE: readonly never[] = [];

/** A name by its raw text between the quotes. */
export function spelled(raw: string): string {
  return raw.includes('\\') ? (JSON.parse(`"${raw}"`) as string) : raw;
}

/**
 * A name as the most lenient parsers read it: those that fold case by Unicode (Go's `encoding/json` reads U+017F as `s`
 * and U+212A as `k`), ignore separators (`push-notification_config`), trim, or drop invisible characters.
 */
export function normalizedName(name: string): string {
  if (/^[a-zA-Z0-9]*$/.test(name)) return name.toLowerCase();
  return name
    .normalize('NFKD')
    .toUpperCase()
    .toLowerCase()
    .replaceAll(/[^\p{Letter}\p{Number}]/gu, '');
}

/** The facts a policy needs about a chat message; the bytes are sent to the agent unchanged. */
export interface ChatMessage {
  /** The id of the request as JSON text, repeated in every error response; `null` if it has none that can be repeated. */
  readonly id: string;
  /** Empty if there is none, or if it is too long. */
  readonly method: string;
  /** True if it registers a webhook (A2A: push notification configuration). */
  readonly hasPushConfiguration: boolean;
  /** The tenants it names, in any spelling; absent if it names none. */
  readonly tenants?: readonly string[] | undefined;
  /** The objects whose members are checked or edited; absent unless they were asked for. */
  readonly places?: MessagePlaces | undefined;
  /** The reason why two parsers could read it differently; absent if they cannot. */
  readonly fault?: RequestError | undefined;
}

/** The objects of a message by the name of their level. */
export type MessagePlaces = Readonly<Partial<Record<Level['name'], ObjectPlace>>>;

/** An object in the bytes of a message. */
export interface ObjectPlace {
  /** The offset after its brace. */
  readonly start: number;
  /** All members; of the envelope, only those that no version of JSON-RPC defines. */
  readonly members: readonly PlacedMember[];
}

/** The value of a member, by the raw text of its name. */
export interface PlacedMember extends JsonSpan {
  readonly name: string;
  /** True for a name of the specification in its exact spelling. */
  readonly isExact: boolean;
}

/**
 * The checked part of a message: everything a method policy depends on, or only its method, which decides whether
 * the response contains an agent card.
 */
export type Scrutiny = 'policy' | 'method';

/** The parts of a message that are read. */
export interface MessageReading {
  readonly scrutiny: Scrutiny;
  /** True if the positions of its members are recorded. */
  readonly isPlaced: boolean;
}

interface Level {
  readonly name: 'envelope' | 'params' | 'message' | 'configuration';
  readonly names: MemberNames;
  /** Members that are objects, with the level that describes them. */
  readonly objects?: ReadonlyMap<string, Level>;
  /** JSON-RPC's error code for a fault at this level. */
  readonly rpcCode: number;
}

const INVALID_REQUEST = -32600;
const INVALID_PARAMS = -32602;
/** Maximum length of an id or method, in characters. Longer ids are not repeated, and longer methods are ignored. */
const MAX_TEXT = 256;
/** Maximum length of an id in bytes: each character an escape, and two quotes. */
const MAX_ID_BYTES = MAX_TEXT * 6 + 2;
const NULL = 0x6e;
const QUOTE = 0x22;
const MINUS = 0x2d;
/** Maximum number of members in one object, and bytes of their names: messages have a dozen short ones. */
export const MAX_MEMBERS = 1_000;
export const MAX_NAME_BYTES = 256;

/** The names of a webhook in the protocol versions from v0.1 to v1.0. */
const PUSH_CONFIGURATIONS = ['pushNotification', 'pushNotificationConfig', 'taskPushNotificationConfig'];

/** The members of a message, and of its configuration without webhooks, in A2A v0.2 to v1.0. */
export const MESSAGE_MEMBERS: readonly string[] = [
  'content',
  'contextId',
  'extensions',
  'kind',
  'messageId',
  'metadata',
  'parts',
  'referenceTaskIds',
  'role',
  'taskId',
];
export const CONFIGURATION_MEMBERS: readonly string[] = [
  'acceptedOutputModes',
  'blocking',
  'historyLength',
  'returnImmediately',
];

const CONFIGURATION: Level = {
  name: 'configuration',
  rpcCode: INVALID_PARAMS,
  names: new MemberNames([...CONFIGURATION_MEMBERS, ...PUSH_CONFIGURATIONS]),
};

const MESSAGE: Level = {
  name: 'message',
  rpcCode: INVALID_PARAMS,
  names: new MemberNames(MESSAGE_MEMBERS),
};

const PARAMS: Level = {
  name: 'params',
  rpcCode: INVALID_PARAMS,
  names: new MemberNames(
    [
      'configuration',
      'contextId',
      'historyLength',
      'id',
      'message',
      'metadata',
      'name',
      ...PUSH_CONFIGURATIONS,
      'taskId',
      'tenant',
    ],
    // The protocol buffers of v0.2 and v0.3 name the message `request`.
    { request: 'message' },
  ),
  objects: new Map([
    ['configuration', CONFIGURATION],
    ['message', MESSAGE],
  ]),
};

const ENVELOPE: Level = {
  name: 'envelope',
  rpcCode: INVALID_REQUEST,
  names: new MemberNames(['id', 'jsonrpc', 'method', 'params']),
  objects: new Map([['params', PARAMS]]),
};

const decoder = new TextDecoder('utf-8', { fatal: true });

/**
 * Reads a JSON-RPC 2.0 request (A2A v1.0 §9), with its places if `isPlaced`. Faults are part of the result, with the id
 * for the error response.
 */
export function readRpcMessage(bytes: Uint8Array, scrutiny: Scrutiny, isPlaced = false): ChatMessage {
  return new MessageReader(bytes, scrutiny, isPlaced).read(ENVELOPE);
}

/** Reads a message of the HTTP+JSON binding, which equals the `params` of JSON-RPC (A2A v1.0 §11). */
export function readHttpJsonMessage(bytes: Uint8Array, scrutiny: Scrutiny = 'policy', isPlaced = false): ChatMessage {
  return new MessageReader(bytes, scrutiny, isPlaced).read(PARAMS);
}

/**
 * Checks the members that policies and the agent's parser depend on: each in its exact spelling, once, and objects
 * where objects are expected. Otherwise two parsers could read one message in two ways, and the agent's could be the
 * more lenient one.
 */
class MessageReader {
  readonly #bytes: Uint8Array;
  readonly #cursor: JsonCursor;
  readonly #scrutiny: Scrutiny;
  #id = 'null';
  #method: string | undefined;
  #hasPushConfiguration = false;
  #fault: RequestError | undefined;
  #tenants: string[] | undefined;
  /** Absent if no positions are recorded. */
  readonly #places: Partial<Record<Level['name'], ObjectPlace>> | undefined;
  #level: Level | undefined;

  constructor(bytes: Uint8Array, scrutiny: Scrutiny, isPlaced: boolean) {
    this.#bytes = bytes;
    this.#places = isPlaced ? {} : undefined;
    this.#cursor = new JsonCursor(bytes);
    this.#scrutiny = scrutiny;
  }

  read(root: Level): ChatMessage {
    try {
      if (this.#cursor.enterObject()) this.#readMembers(root);
      else {
        this.#cursor.skipValue();
        this.#refuse('The message is not one JSON object.', root.rpcCode);
      }
      this.#cursor.end();
      if (root === ENVELOPE && this.#method === undefined && this.#scrutiny !== 'method') {
        this.#refuse('The request has no "method", or one that is not a string.', INVALID_REQUEST);
      }
    } catch (error) {
      if (!(error instanceof JsonTextError)) throw error;
      // JSON-RPC 2.0 §5.1: the id is null if the request cannot be parsed.
      if (error.reason === 'syntax') return { id: 'null', method: '', hasPushConfiguration: false, fault: notJson() };
      const rpcCode = this.#level?.rpcCode ?? INVALID_REQUEST;
      this.#refuse(`The message is nested deeper than ${String(MAX_JSON_DEPTH)} levels.`, rpcCode);
    }
    return {
      id: this.#id,
      method: this.#method ?? '',
      hasPushConfiguration: this.#hasPushConfiguration,
      tenants: this.#tenants,
      places: this.#places,
      fault: this.#fault,
    };
  }

  #readMembers(at: Level): void {
    const seen = new Set<string>();
    const outer = this.#level;
    this.#level = at;
    const members: PlacedMember[] = [];
    if (this.#places !== undefined) this.#places[at.name] = { start: this.#cursor.position, members };
    let count = 0;
    for (let name = this.#cursor.nextName(true); name !== undefined; name = this.#cursor.nextName(false)) {
      count += 1;
      if (count > MAX_MEMBERS || name.end - name.start > MAX_NAME_BYTES) {
        this.#refuse('The message has too many members, or one with a name that is too long.', at.rpcCode);
        this.#cursor.skipValue();
        continue;
      }
      if (this.#places === undefined) {
        this.#readMember(at, name, seen);
        continue;
      }
      this.#cursor.peek();
      const start = this.#cursor.position;
      const spelling = this.#readMember(at, name, seen);
      // The members of an envelope are never looked up.
      if (at === ENVELOPE && spelling !== undefined) continue;
      const text = spelling ?? decodedText(this.#bytes, name);
      members.push({ name: text, isExact: spelling !== undefined, start, end: this.#cursor.position });
    }
    this.#level = outer;
  }

  /** Returns the name if it is an exact spelling. */
  #readMember(at: Level, span: JsonSpan, seen: Set<string>): string | undefined {
    const { member, folded, spelling } = at.names.find(this.#bytes, span);
    // In a configuration, any unknown member with such a name may be a webhook.
    const isPush =
      PUSH_CONFIGURATIONS.includes(member ?? '') || (at === CONFIGURATION && folded.includes('pushnotification'));
    if (isPush && this.#cursor.peek() !== NULL) this.#hasPushConfiguration = true;
    const isJudged = member !== undefined && (this.#scrutiny !== 'method' || member === 'method');
    if (isJudged && spelling === undefined)
      this.#refuse(`A member resembles "${member}" but is spelled differently.`, at.rpcCode);
    if (isJudged && seen.has(member)) this.#refuse(`The member "${member}" appears twice.`, at.rpcCode);
    if (isJudged) seen.add(member);
    // The tenant is checked under every policy, so the params are read under every policy.
    const inner = isJudged || at === ENVELOPE || this.#places !== undefined ? at.objects?.get(member ?? '') : undefined;
    if (inner !== undefined) this.#readInner(member ?? '', inner);
    else if (at === ENVELOPE && member === 'id') this.#readId();
    else if (at === ENVELOPE && member === 'method') this.#readMethod();
    else if (at === PARAMS && member === 'tenant') this.#readTenant();
    else this.#cursor.skipValue();
    return spelling;
  }

  #readInner(member: string, inner: Level): void {
    if (this.#cursor.enterObject()) {
      this.#readMembers(inner);
      return;
    }
    if (this.#cursor.peek() !== NULL && this.#scrutiny !== 'method') {
      this.#refuse(`The member "${member}" is not an object.`, inner.rpcCode);
    }
    this.#cursor.skipValue();
  }

  #readId(): void {
    const first = this.#cursor.peek();
    const text = this.#valueText(MAX_ID_BYTES);
    const isScalar = first === QUOTE || first === MINUS || (first !== undefined && first >= 0x30 && first <= 0x39);
    const length = first === QUOTE && text !== undefined ? (JSON.parse(text) as string).length : text?.length;
    if (isScalar && text !== undefined && length !== undefined && length <= MAX_TEXT) this.#id = text;
    else if (first !== NULL && this.#scrutiny !== 'method')
      this.#refuse('The "id" is not a string or number of at most 256 characters.', INVALID_REQUEST);
  }

  #readMethod(): void {
    const isString = this.#cursor.peek() === QUOTE;
    const text = this.#valueText(MAX_TEXT);
    if (isString) this.#method = text === undefined ? '' : (JSON.parse(text) as string);
  }

  #readTenant(): void {
    const first = this.#cursor.peek();
    const text = this.#valueText(MAX_ID_BYTES);
    if (first === NULL || text === '""') return;
    // No card declares a value that begins with a NUL.
    const tenant = first === QUOTE && text !== undefined ? (JSON.parse(text) as string) : `\0${text ?? ''}`;
    (this.#tenants ??= []).push(tenant);
  }

  /** Skips a value and returns its text, unless it is longer than `maxBytes`. */
  #valueText(maxBytes: number): string | undefined {
    this.#cursor.peek();
    const start = this.#cursor.position;
    this.#cursor.skipValue();
    const end = this.#cursor.position;
    return end - start > maxBytes ? undefined : decodedText(this.#bytes, { start, end });
  }

  #refuse(detail: string, rpcCode: number): void {
    this.#fault ??= new RequestError('body_invalid', {
      detail,
      hint: 'Send one A2A request with each member once, under its name in the specification.',
      rpcCode,
    });
  }
}

function decodedText(bytes: Uint8Array, { start, end }: JsonSpan): string {
  return decoder.decode(bytes.subarray(start, end));
}

function notJson(): RequestError {
  return new RequestError('body_invalid', {
    detail: 'The request body is not JSON in UTF-8.',
    hint: 'Send one JSON object.',
  });
}
