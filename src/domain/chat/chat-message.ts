import { RequestError } from '../shared/errors.js';
import { JsonCursor, type JsonSpan, JsonTextError, MAX_JSON_DEPTH } from '../shared/json-cursor.js';

/** A member that readers act upon, as one of its spellings leads to it. */
interface MemberName {
  /** Its name in the specification; undefined when no reader takes the name for a member of this level. */
  readonly member: string | undefined;
  /** The name as a lenient parser reads it. */
  readonly folded: string;
  /** True for the one spelling that every reader takes for this member. */
  readonly isExact: boolean;
}

/** The members of one level of a message, by spelling. */
class MemberNames {
  readonly #exact = new Map<string, MemberName>();
  readonly #folded = new Map<string, string>();

  /**
   * Takes names in camelCase, and their snake_case twins: readers made from protocol buffers accept both (ProtoJSON).
   * Aliases are further names of a member.
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
    this.#exact.set(spelling, { member, folded, isExact: true });
    this.#folded.set(folded, member);
  }

  /** Looks up a name as it stands in the text between its quotes, escapes included. */
  find(raw: string): MemberName {
    const exact = this.#exact.get(raw);
    if (exact !== undefined) return exact;
    const name = raw.includes('\\') ? (JSON.parse(`"${raw}"`) as string) : raw;
    const folded = normalizedName(name);
    // Copied by assignment, `__proto__` becomes the object whose members a reader sees as the message's own.
    return { member: name === '__proto__' ? name : this.#folded.get(folded), folded, isExact: false };
  }
}

/**
 * A name as the most lenient parsers read it: those that ignore case by Unicode's folding (Go's `encoding/json` takes U+017F for `s` and
 * U+212A for `k`), that ignore separators (`push-notification_config`), that trim, that end at a NUL, and that drop what is invisible.
 */
function normalizedName(name: string): string {
  if (/^[a-zA-Z0-9]*$/.test(name)) return name.toLowerCase();
  return name
    .normalize('NFKD')
    .toUpperCase()
    .toLowerCase()
    .replaceAll(/[^\p{Letter}\p{Number}]/gu, '');
}

/** The facts of a chat message that a policy judges; the bytes themselves go to the agent as they are. */
export interface ChatMessage {
  /** The id of the request as JSON text, to be repeated in every error response; `null` when it has none that can be repeated. */
  readonly id: string;
  /** Empty when there is none, or none that is short enough to be one. */
  readonly method: string;
  /** True if it registers a webhook (A2A: push notification configuration). */
  readonly hasPushConfiguration: boolean;
  /** The reason why two parsers could read it differently; absent when none can. */
  readonly fault?: RequestError;
}

/**
 * The part of a message that is judged: everything a method policy depends on, or its method alone, which decides whether the response holds an agent card.
 */
export type Scrutiny = 'policy' | 'method';

interface Level {
  readonly names: MemberNames;
  /** Members that are objects, with the level they are read at. */
  readonly objects?: ReadonlyMap<string, Level>;
  /** JSON-RPC's code for a fault at this level. */
  readonly rpcCode: number;
}

const INVALID_REQUEST = -32600;
const INVALID_PARAMS = -32602;
/** Characters of an id or a method; longer ones are not repeated, and no method. */
const MAX_TEXT = 256;
/** Bytes of the longest id: each character an escape, and two quotes. */
const MAX_ID_BYTES = MAX_TEXT * 6 + 2;
const NULL = 0x6e;
const QUOTE = 0x22;
const MINUS = 0x2d;
/** Members of one object, and bytes of their names: messages have a dozen short ones. */
const MAX_MEMBERS = 1_000;
const MAX_NAME_BYTES = 256;

/** The names of a webhook in the generations of the protocol, from v0.1 to v1.0. */
const PUSH_CONFIGURATIONS = ['pushNotification', 'pushNotificationConfig', 'taskPushNotificationConfig'];

const CONFIGURATION: Level = {
  rpcCode: INVALID_PARAMS,
  names: new MemberNames([
    'acceptedOutputModes',
    'blocking',
    'historyLength',
    ...PUSH_CONFIGURATIONS,
    'returnImmediately',
  ]),
};

const MESSAGE: Level = {
  rpcCode: INVALID_PARAMS,
  names: new MemberNames([
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
  ]),
};

const PARAMS: Level = {
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
      ...PUSH_CONFIGURATIONS, // v0.1 had it here
      'taskId',
      'tenant',
    ],
    // The protocol buffers of v0.2 and v0.3 call the message `request`.
    { request: 'message' },
  ),
  objects: new Map([
    ['configuration', CONFIGURATION],
    ['message', MESSAGE],
  ]),
};

const ENVELOPE: Level = {
  rpcCode: INVALID_REQUEST,
  names: new MemberNames(['id', 'jsonrpc', 'method', 'params']),
  objects: new Map([['params', PARAMS]]),
};

const decoder = new TextDecoder('utf-8', { fatal: true });

/** Reads a JSON-RPC 2.0 request (A2A v1.0 §9). What is wrong with it is part of what it gives, with the id for the error response. */
export function readRpcMessage(bytes: Uint8Array, scrutiny: Scrutiny): ChatMessage {
  return new MessageReader(bytes, scrutiny).read(ENVELOPE);
}

/** Reads a message of the HTTP+JSON binding, which is what JSON-RPC has as `params` (A2A v1.0 §11). */
export function readHttpJsonMessage(bytes: Uint8Array): ChatMessage {
  return new MessageReader(bytes, 'policy').read(PARAMS);
}

/**
 * Judges the members of the levels that policies and readers of the agent depend on: each in its own spelling, once, and objects where objects belong.
 * Two readers would otherwise take one message for two, and the agent's might be the more generous one.
 */
class MessageReader {
  readonly #bytes: Uint8Array;
  readonly #cursor: JsonCursor;
  readonly #scrutiny: Scrutiny;
  #id = 'null';
  #method: string | undefined;
  #hasPushConfiguration = false;
  #fault: RequestError | undefined;
  #level: Level | undefined;

  constructor(bytes: Uint8Array, scrutiny: Scrutiny) {
    this.#bytes = bytes;
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
      if (root === ENVELOPE && this.#method === undefined && this.#scrutiny === 'policy') {
        this.#refuse('The request has no "method", or one that is not a string.', INVALID_REQUEST);
      }
    } catch (error) {
      if (!(error instanceof JsonTextError)) throw error;
      // JSON-RPC 2.0 §5.1: the id of what cannot be parsed is null.
      if (error.reason === 'syntax') return { id: 'null', method: '', hasPushConfiguration: false, fault: notJson() };
      const rpcCode = this.#level?.rpcCode ?? INVALID_REQUEST;
      this.#refuse(`The message is nested deeper than ${String(MAX_JSON_DEPTH)} levels.`, rpcCode);
    }
    return {
      id: this.#id,
      method: this.#method ?? '',
      hasPushConfiguration: this.#hasPushConfiguration,
      ...(this.#fault === undefined ? {} : { fault: this.#fault }),
    };
  }

  #readMembers(at: Level): void {
    const seen = new Set<string>();
    const outer = this.#level;
    this.#level = at;
    let count = 0;
    for (let name = this.#cursor.nextName(true); name !== undefined; name = this.#cursor.nextName(false)) {
      count += 1;
      if (count > MAX_MEMBERS || name.end - name.start > MAX_NAME_BYTES) {
        this.#refuse('The message has too many members, or one with a name that is too long.', at.rpcCode);
        this.#cursor.skipValue();
      } else this.#readMember(at, this.#text(name), seen);
    }
    this.#level = outer;
  }

  #readMember(at: Level, raw: string, seen: Set<string>): void {
    const { member, folded, isExact } = at.names.find(raw);
    // In a configuration, whatever a later version may call it.
    const isPush =
      PUSH_CONFIGURATIONS.includes(member ?? '') || (at === CONFIGURATION && folded.includes('pushnotification'));
    if (isPush && this.#cursor.peek() !== NULL) this.#hasPushConfiguration = true;
    const isJudged = member !== undefined && (this.#scrutiny === 'policy' || member === 'method');
    if (isJudged && !isExact) this.#refuse(`A member resembles "${member}" and is spelled differently.`, at.rpcCode);
    if (isJudged && seen.has(member)) this.#refuse(`The member "${member}" is there twice.`, at.rpcCode);
    if (isJudged) seen.add(member);
    const inner = isJudged ? at.objects?.get(member) : undefined;
    if (inner !== undefined) this.#readInner(member ?? '', inner);
    else if (at === ENVELOPE && member === 'id') this.#readId();
    else if (at === ENVELOPE && member === 'method') this.#readMethod();
    else this.#cursor.skipValue();
  }

  #readInner(member: string, inner: Level): void {
    if (this.#cursor.enterObject()) {
      this.#readMembers(inner);
      return;
    }
    if (this.#cursor.peek() !== NULL) this.#refuse(`The member "${member}" is not an object.`, inner.rpcCode);
    this.#cursor.skipValue();
  }

  #readId(): void {
    const first = this.#cursor.peek();
    const text = this.#valueText(MAX_ID_BYTES);
    const isScalar = first === QUOTE || first === MINUS || (first !== undefined && first >= 0x30 && first <= 0x39);
    const length = first === QUOTE && text !== undefined ? (JSON.parse(text) as string).length : text?.length;
    if (isScalar && text !== undefined && length !== undefined && length <= MAX_TEXT) this.#id = text;
    else if (first !== NULL && this.#scrutiny === 'policy')
      this.#refuse('The "id" is not a string or number of at most 256 characters.', INVALID_REQUEST);
  }

  #readMethod(): void {
    const isString = this.#cursor.peek() === QUOTE;
    const text = this.#valueText(MAX_TEXT);
    if (isString) this.#method = text === undefined ? '' : (JSON.parse(text) as string);
  }

  /** Passes a value; its text, unless it is longer than so many bytes. */
  #valueText(maxBytes: number): string | undefined {
    this.#cursor.peek();
    const start = this.#cursor.position;
    this.#cursor.skipValue();
    const end = this.#cursor.position;
    return end - start > maxBytes ? undefined : this.#text({ start, end });
  }

  #text({ start, end }: JsonSpan): string {
    return decoder.decode(this.#bytes.subarray(start, end));
  }

  #refuse(detail: string, rpcCode: number): void {
    this.#fault ??= new RequestError('body_invalid', {
      detail,
      hint: 'Send one A2A request with each member once, under the name the specification gives it.',
      rpcCode,
    });
  }
}

function notJson(): RequestError {
  return new RequestError('body_invalid', {
    detail: 'The request body is not JSON in UTF-8.',
    hint: 'Send one JSON object.',
  });
}
