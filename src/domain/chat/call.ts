import { RequestError } from '../shared/errors.js';
import { isObject, parsedJson } from '../shared/json.js';
import { JsonDocument, JsonTextError } from '../shared/json-document.js';
import { type LevelName, MAX_MEMBERS, MAX_NAME, memberNames, normalizedName } from './member-names.js';
import type { RestPath } from './rest-paths.js';

/** One call of an A2A client, in either binding: the facts that decide about it, and the bytes that are sent. */
export interface A2ACall {
  readonly binding: 'JSONRPC' | 'HTTP+JSON';
  /** The A2A method under its name in v1.0, or any other text. Empty if there is none, or if it is too long. */
  readonly method: string;
  /** True if the call is written as in v0.3. */
  readonly isOld: boolean;
  /** `starts`: sends a message. `reads`: follows or cancels a task. `card`: asks for the extended card. */
  readonly kind: 'starts' | 'reads' | 'card' | 'other';
  /** The id of the request as JSON text, repeated in every error response; `null` if it has none that can be repeated. */
  readonly id: string;
  /** The conversation of its message; absent if it names none by a string. */
  readonly contextId?: string | undefined;
  /** The task of its message, or of its `params`; absent if it names none by a string. */
  readonly taskId?: string | undefined;
  /** The tenants that body, path and query name, in any spelling. */
  readonly tenants: readonly string[];
  /** True if it registers a webhook (A2A: push notification configuration). */
  readonly hasPush: boolean;
  /** The reason why it is refused; absent if it can be read in one way only. */
  readonly fault?: RequestError | undefined;
  /** The raw query with its `?`, or an empty string. */
  readonly query: string;
  /** The HTTP method and the path of a call in HTTP+JSON. */
  readonly rest?: { readonly method: string; readonly path: RestPath };
  /** Absent if there is none. */
  readonly body?: CallBody | undefined;
}

/** A call in HTTP+JSON. */
export type RestCall = A2ACall & Required<Pick<A2ACall, 'rest'>>;

/** The body of a call that was read. */
export interface CallBody {
  /** Bytes if it is long, and once it is sent: a value costs many times as much while a call waits. */
  content: JsonDocument | Uint8Array;
  /** Its media type, without parameters. */
  readonly type: string;
  /** The context of its message, and the task of its message or of its `params`; absent if they are no strings. */
  readonly contextId?: string | undefined;
  readonly taskId?: string | undefined;
  /** The members of each level that are not null. */
  readonly names: Readonly<Partial<Record<LevelName, readonly string[]>>>;
  /** The tasks that its message refers to, empty texts for those that are no strings; absent if they are not a short list. */
  readonly references?: readonly string[] | undefined;
}

/** Methods under their v1.0 name, with their name in v0.2 and v0.3 if there is one. */
const SPELLINGS: ReadonlyMap<string, string> = new Map([
  ['message/send', 'SendMessage'],
  ['message/stream', 'SendStreamingMessage'],
  ['tasks/get', 'GetTask'],
  ['tasks/list', 'ListTasks'],
  ['tasks/cancel', 'CancelTask'],
  ['tasks/resubscribe', 'SubscribeToTask'],
  ['tasks/pushNotificationConfig/set', 'CreateTaskPushNotificationConfig'],
  ['tasks/pushNotificationConfig/get', 'GetTaskPushNotificationConfig'],
  ['tasks/pushNotificationConfig/list', 'ListTaskPushNotificationConfigs'],
  ['tasks/pushNotificationConfig/delete', 'DeleteTaskPushNotificationConfig'],
  ['agent/getAuthenticatedExtendedCard', 'GetExtendedAgentCard'],
]);
const METHODS: ReadonlySet<string> = new Set(SPELLINGS.values());

const KINDS: ReadonlyMap<string, A2ACall['kind']> = new Map([
  ['SendMessage', 'starts'],
  ['SendStreamingMessage', 'starts'],
  ['GetTask', 'reads'],
  ['SubscribeToTask', 'reads'],
  ['CancelTask', 'reads'],
  ['GetExtendedAgentCard', 'card'],
]);

/** A method by its name in v1.0. */
export function currentName(method: string): string {
  return SPELLINGS.get(method) ?? method;
}

/** A method by its name in v1.0; `_OTHER` for one that no version defines, as OpenTelemetry writes it. */
export function knownMethod(method: string): string {
  return METHODS.has(method) ? method : '_OTHER';
}

const INVALID_REQUEST = -32600;
const INVALID_PARAMS = -32602;
/** Maximum length of a request's id, and of a method. Longer ids are not repeated, and longer methods are ignored. */
const MAX_TEXT = 256;
/** Maximum bytes of a body whose value is kept until it is sent. */
const MAX_KEPT = 4_096;
/** Maximum length of a conversation's or task's id. */
const MAX_ID = 16_384;
export const MAX_REFERENCES = 8;

const UNREAD = { method: '', isOld: false, kind: 'other', id: 'null', tenants: [], hasPush: false } as const;

/**
 * Reads a JSON-RPC 2.0 request (A2A v1.0 §9). A fault is part of the result, with the id for the error response. If
 * `isStrict`, everything is judged that a policy or a rule of the site depends on; otherwise its method and tenants.
 */
export function readRpcCall(bytes: Uint8Array, query: string, isStrict: boolean): A2ACall {
  const read = opened(bytes);
  if (read instanceof JsonTextError) {
    const head = parsedJson(read.head);
    const named = isObject(head) ? wellFormed(head['method']) : undefined;
    const id = textOfId(head) ?? 'null';
    return { ...UNREAD, binding: 'JSONRPC', method: currentName(named ?? ''), id, query, fault: unread(read) };
  }
  const reader = new MemberReader(read, isStrict);
  const envelope = reader.object('envelope', read.value) ?? {};
  const id = textOfId(envelope, read);
  if (id === undefined) reader.doubt('The "id" is not a string or number of at most 256 characters.', INVALID_REQUEST);
  const named = wellFormed(read.stringOf(envelope['method']));
  if (named === undefined) reader.doubt('The request has no "method", or one that is not a string.', INVALID_REQUEST);
  const written = named === undefined || named.length > MAX_TEXT ? '' : named;
  const method = currentName(written);
  const { tenants, hasPush, fault } = reader;
  const body = reader.body('application/json', envelope['params']);
  const { contextId, taskId } = body;
  const kind = KINDS.get(method) ?? 'other';
  const isOld = method !== written;
  // Written out: a spread costs more than the rest of this function.
  return {
    binding: 'JSONRPC',
    method,
    isOld,
    kind,
    id: id ?? 'null',
    contextId,
    taskId,
    tenants,
    hasPush,
    fault,
    query,
    body,
  };
}

/** Reads a call of the HTTP+JSON binding, whose body equals the `params` of JSON-RPC (A2A v1.0 §11). */
export function readRestCall(
  path: RestPath,
  { method: httpMethod, query }: { readonly method: string; readonly query: string },
  sent: { readonly bytes: Uint8Array; readonly type: string } | undefined,
  isStrict: boolean,
): RestCall {
  const method = path.methods[httpMethod] ?? '';
  const kind = KINDS.get(method) ?? 'other';
  const { isOld, taskId } = path;
  const rest = { method: httpMethod, path };
  const call = { ...UNREAD, binding: 'HTTP+JSON', method, kind, isOld, query, rest } as const;
  const all = (tenants: readonly string[]): readonly string[] =>
    [path.tenant, ...tenants, ...queryTenants(query)].filter((one) => one !== '');
  const read = sent && opened(sent.bytes);
  if (sent === undefined || read === undefined) return { ...call, taskId, tenants: all([]) };
  if (read instanceof JsonTextError) return { ...call, taskId, tenants: all([]), fault: unread(read) };
  const reader = new MemberReader(read, isStrict);
  reader.object('params', read.value);
  const { tenants, hasPush, fault } = reader;
  const body = reader.body(sent.type, read.value);
  const { contextId, taskId: named } = body;
  return { ...call, contextId, taskId: taskId ?? named, tenants: all(tenants), hasPush, fault, body };
}

/** The tenants in a query, empty ones included: parsers of protocol buffers read any member there, in any spelling. */
function queryTenants(query: string): readonly string[] {
  return [...new URLSearchParams(query)].flatMap(([name, value]) => (normalizedName(name) === 'tenant' ? [value] : []));
}

/**
 * Checks the members that policies and the agent's parser depend on: each in one spelling, and objects where objects are
 * expected. Otherwise two parsers could read one message in two ways, and the agent's could be the more lenient one.
 */
class MemberReader {
  readonly tenants: string[] = [];
  hasPush = false;
  fault: RequestError | undefined;
  readonly #document: JsonDocument;
  readonly #isStrict: boolean;
  readonly #names: Partial<Record<LevelName, readonly string[]>> = {};

  constructor(document: JsonDocument, isStrict: boolean) {
    this.#document = document;
    this.#isStrict = isStrict;
  }

  /** The whole body, whose members are judged; `undefined` if it is not an object. */
  object(level: LevelName, value: unknown): JsonObject | undefined {
    if (isObject(value)) {
      this.#judge(level, value);
      return value;
    }
    this.refuse('The message is not one JSON object.', codeOf(level));
    return undefined;
  }

  /** The body as it is sent, with the facts that are kept. */
  body(type: string, params: unknown): CallBody {
    const within = isObject(params) ? params : {};
    const message = within['message'] ?? within['request'];
    const { contextId, taskId, referenceTaskIds: list = [] } = isObject(message) ? message : {};
    const named = this.#idOf(taskId);
    return {
      content: this.#document.length > MAX_KEPT ? this.#document.bytes() : this.#document,
      type,
      names: this.#names,
      contextId: this.#idOf(contextId),
      taskId: named === undefined || named === '' ? (this.#idOf(within['id']) ?? named) : named,
      references: this.#references(list ?? []),
    };
  }

  refuse(detail: string, rpcCode: number): void {
    const hint = 'Send one A2A request with each member once, under its name in the specification.';
    this.fault ??= new RequestError('body_invalid', { detail, hint, rpcCode });
  }

  /** Refuses what only a policy or a rule depends on. */
  doubt(detail: string, rpcCode: number): void {
    if (this.#isStrict) this.refuse(detail, rpcCode);
  }

  #judge(level: LevelName, object: JsonObject): void {
    const rpcCode = codeOf(level);
    const names = Object.keys(object);
    const given: string[] = [];
    this.#names[level] = given;
    const known = memberNames(level);
    for (const name of names) {
      if (names.length > MAX_MEMBERS || name.length > MAX_NAME) {
        this.refuse('The message has too many members, or one with a name that is too long.', rpcCode);
        return;
      }
      const value = object[name];
      const { member, isExact, isPush } = known.exact.get(name) ?? known.other(name);
      if (value !== null) {
        given.push(name);
        if (isPush) this.hasPush = true;
      }
      if (!isExact && wellFormed(name) === undefined) this.doubt('A name is not valid Unicode.', rpcCode);
      if (member === undefined) continue;
      // The method decides about an agent card in the response, whatever the policy.
      if (this.#isStrict || member === 'method') {
        if (!isExact) this.refuse(`A member resembles "${member}" but is spelled differently.`, rpcCode);
        else if (name !== member && Object.hasOwn(object, member))
          this.refuse(`The member "${member}" appears twice.`, rpcCode);
      }
      if (level === 'envelope' ? member === 'params' : level === 'params') this.#descend(member, value);
    }
  }

  /** The tenant is read under every policy, and so is every object that some parser looks for it in. */
  #descend(member: string, value: unknown): void {
    if (member === 'params') this.#inner('params', value);
    else if (member === 'tenant') this.#tenant(value);
    else if (this.#isStrict && (member === 'message' || member === 'configuration')) this.#inner(member, value);
  }

  #inner(level: LevelName, value: unknown): void {
    if (isObject(value)) this.#judge(level, value);
    else if (value !== null) this.doubt(`The member "${level}" is not an object.`, codeOf(level));
  }

  #tenant(value: unknown): void {
    // No card declares a value that begins with a NUL.
    if (value !== null && value !== '') this.tenants.push(this.#document.stringOf(value) ?? '\0');
  }

  #idOf(value: unknown): string | undefined {
    const id = wellFormed(this.#document.stringOf(value));
    return id !== undefined && id.length <= MAX_ID ? id : undefined;
  }

  #references(list: unknown): readonly string[] | undefined {
    if (!Array.isArray(list) || list.length > MAX_REFERENCES) return undefined;
    return list.map((one) => this.#idOf(one) ?? '');
  }
}

type JsonObject = Readonly<Record<string, unknown>>;

function codeOf(level: LevelName): number {
  return level === 'envelope' ? INVALID_REQUEST : INVALID_PARAMS;
}

function opened(bytes: Uint8Array): JsonDocument | JsonTextError {
  try {
    return new JsonDocument(bytes);
  } catch (error) {
    if (error instanceof JsonTextError) return error;
    throw error;
  }
}

function unread({ reason, message }: JsonTextError): RequestError {
  if (reason === 'syntax') {
    const detail = 'The request body is not JSON in UTF-8.';
    return new RequestError('body_invalid', { detail, hint: 'Send one JSON object.' });
  }
  const hint = 'Send less, or the data as a text or a file.';
  return new RequestError('body_invalid', { detail: `The message ${message}.`, hint, rpcCode: INVALID_PARAMS });
}

/** The id of an envelope as JSON text; `undefined` if it cannot be repeated. */
function textOfId(envelope: unknown, document?: JsonDocument): string | undefined {
  const id = isObject(envelope) ? envelope['id'] : undefined;
  if (id === undefined || id === null) return 'null';
  // Without the document, a long number may have lost digits.
  const number =
    document === undefined ? (Number.isSafeInteger(id) ? JSON.stringify(id) : undefined) : document.numberText(id);
  if (number !== undefined) return number.length <= MAX_TEXT ? number : undefined;
  const text = wellFormed(document === undefined ? id : document.stringOf(id));
  return text !== undefined && text.length <= MAX_TEXT ? JSON.stringify(text) : undefined;
}

/** A text without half of a surrogate pair; `undefined` for anything else. */
function wellFormed(value: unknown): string | undefined {
  return typeof value === 'string' && !/\p{Surrogate}/u.test(value) ? value : undefined;
}
