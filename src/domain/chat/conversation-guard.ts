import type { Telemetry } from '../../ports/telemetry.js';
import type { HttpBody } from '../shared/body.js';
import { ByteCollector } from '../shared/bytes.js';
import { RequestError } from '../shared/errors.js';
import { isObject, JsonOutline } from '../shared/json.js';
import { LruMap } from '../shared/lru-map.js';
import { type BodyStart, chunksOf } from '../upstream/body-bytes.js';
import {
  MAX_SAID,
  type PlatformErrors,
  type PlatformReply,
  refuseRedirect,
  refusesSite,
} from '../upstream/platform-error.js';
import { decodeSegment } from '../upstream/safe-path.js';
import { CONFIGURATION_MEMBERS, MESSAGE_MEMBERS, type ObjectPlace } from './chat-message.js';
import type { AdmittedCall, ConversationCheck, GuardedCall } from './conversations.js';
import { endsInCall } from './http-json-binding.js';
import { memberOf } from './message-edits.js';
import { canonical, readsOn, startsWork } from './method-policy.js';
import type { ContextScope, MintedContexts, VisitorKey } from './minted-contexts.js';

/** The visitor of one request. */
export interface Visitor {
  /** The first key mints ids; every key verifies them. */
  readonly keys: readonly [VisitorKey, ...VisitorKey[]];
  /** True if the site grants the visitor a conversation that was not minted here; absent if it never does. */
  readonly owns: ((contextId: string) => Promise<boolean>) | undefined;
  /** Counts one look-up of a task. */
  readonly countLookup: () => Promise<void>;
}

export interface ConversationGuardDependencies {
  readonly contexts: MintedContexts;
  readonly errors: PlatformErrors;
  readonly telemetry: Telemetry;
  /** Address of the agent. */
  readonly agent: string;
  /** Resolves in the next turn of the event loop. */
  readonly nextTurn: () => Promise<void>;
}

/** One call of one visitor. */
interface Asked {
  readonly visitor: Visitor;
  readonly call: GuardedCall;
  readonly scope: ContextScope;
}

const SENDING: ReadonlySet<string> = new Set(['configuration', 'message', 'metadata', 'tenant']);
const NAMING_TASK: ReadonlySet<string> = new Set(['id', 'metadata', 'tenant']);
/** Every method that may be called, with its `params` in A2A v0.2 to v1.0. No other member crosses: agents read more. */
const PARAMS: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ['SendMessage', SENDING],
  ['SendStreamingMessage', SENDING],
  ['GetTask', new Set([...NAMING_TASK, 'historyLength'])],
  ['CancelTask', NAMING_TASK],
  ['SubscribeToTask', NAMING_TASK],
  ['GetExtendedAgentCard', new Set(['tenant'])],
]);
/** The reader records members that no version defines. */
const ENVELOPE: ReadonlySet<string> = new Set();
const MESSAGE: ReadonlySet<string> = new Set(MESSAGE_MEMBERS);
const CONFIGURATION: ReadonlySet<string> = new Set(CONFIGURATION_MEMBERS);
const QUERY = {
  JSONRPC: /^\?A2A-Version=[\w.]*$/i,
  'HTTP+JSON': /^\?(?:(?:A2A-Version|historyLength)=[\w.]*(?:&(?!$)|$))+$/i,
};
const MAX_REFERENCES = 8;
const MAX_TASKS = 10_000;
/** Maximum characters of a cached context. */
const MAX_CONTEXT = 256;
const MAX_TASK_BYTES = 16_777_216;
/** Bytes of a task that are read before other requests run. */
const TURN_BYTES = 65_536;
/** Resolves when the last look-up in line may read on: one in each turn, however many there are. */
let turn = Promise.resolve();
/** The first byte of `null`. */
const NULL = 0x6e;

/**
 * Lets each visitor into their own conversations only. The agent knows one user, so everything that names a
 * conversation or a task is checked here: a context by its own MAC, a task by asking the agent for its context.
 */
export class ConversationGuard {
  readonly #deps: ConversationGuardDependencies;
  /** The contexts of tasks, which never change. */
  readonly #tasks = new LruMap<string>({ maxEntries: MAX_TASKS });
  #hasWarned = false;

  constructor(dependencies: ConversationGuardDependencies) {
    this.#deps = dependencies;
  }

  of(visitor: Visitor): ConversationCheck {
    return { admit: (call) => this.#admit(visitor, call) };
  }

  #admit(visitor: Visitor, call: GuardedCall): AdmittedCall | Promise<AdmittedCall> {
    const method = canonical(call.method);
    checkForm(call, method);
    const { owner } = call.caller.credential;
    const scope = { agent: this.#deps.agent, tenant: call.tenants[0] ?? '', account: owner.account ?? '' };
    const asked = { visitor, call, scope };
    if (startsWork(method)) return this.#place(asked);
    return readsOn(method) ? this.#taskContext(asked, namedTask(call)).then((contextId) => ({ contextId })) : {};
  }

  /** The context that a message is sent in: its own, its task's, or a new one. */
  #place(asked: Asked): AdmittedCall | Promise<AdmittedCall> {
    const { call, visitor, scope } = asked;
    const contextId = nameIn(call, 'contextId');
    const taskId = nameIn(call, 'taskId');
    const references = memberOf(call, 'message', 'referenceTaskIds') ?? [];
    if (!Array.isArray(references) || references.length > MAX_REFERENCES) {
      throw invalid(`"referenceTaskIds" is not a list of at most ${String(MAX_REFERENCES)} tasks.`);
    }
    // Most messages need no promise, since neither agent nor site is called.
    const isKnown = contextId === '' || this.#deps.contexts.verify(contextId, visitor.keys, scope);
    return isKnown && taskId === '' && references.length === 0
      ? this.#placed(asked, contextId)
      : this.#placeAsking(asked, contextId, taskId, references);
  }

  async #placeAsking(
    asked: Asked,
    contextId: string,
    taskId: string,
    references: readonly unknown[],
  ): Promise<AdmittedCall> {
    // First without calling the agent.
    if (contextId !== '') await this.#checkOwn(asked, contextId);
    for (const reference of new Set(references)) await this.#taskContext(asked, taskName(reference));
    if (taskId === '') return this.#placed(asked, contextId);
    const taken = await this.#taskContext(asked, taskName(taskId));
    if (contextId === '' || contextId === taken) return { contextId: taken, isUnnamed: contextId === '' };
    throw unknownConversation();
  }

  #placed({ visitor, scope }: Asked, contextId: string): AdmittedCall {
    if (contextId !== '') return { contextId };
    return { contextId: this.#deps.contexts.mint(visitor.keys[0], scope), isUnnamed: true };
  }

  /** The context of a task, which must be this visitor's. */
  async #taskContext(asked: Asked, taskId: string): Promise<string> {
    const known = this.#tasks.get(taskKey(asked, taskId));
    if (known !== undefined && (await this.#isOwn(asked, known))) return known;
    // Another visitor's task is looked up each time, so that neither time nor limits distinguish it from a missing one.
    await asked.visitor.countLookup();
    const contextId = await this.#read(await asked.call.ask(taskId), asked, taskId);
    await this.#checkOwn(asked, contextId);
    return contextId;
  }

  /** The context in a response. Only an error of the protocol means that there is no task; other failures stay what they are. */
  async #read(reply: PlatformReply, asked: Asked, taskId: string): Promise<string> {
    const { response } = reply;
    const { status } = response;
    refuseRedirect(response, reply.counterpart);
    if (refusesSite(reply) || status === 429 || status >= 500) throw await this.#deps.errors.replacing(reply);
    const isRpc = asked.call.binding === 'JSONRPC';
    const { value, start } = await this.#outline(response.body, isRpc ? 2 : 1);
    if ((status === 404 && !isRpc) || (isObject(value) && isObject(value['error']))) throw unknownConversation();
    if (!isObject(value) || status >= 300) throw await this.#deps.errors.replacing(reply, start);
    const task = isRpc ? value['result'] : value;
    if (!isObject(task) || task['id'] !== taskId || typeof task['contextId'] !== 'string') throw unknownConversation();
    const contextId = task['contextId'];
    if (contextId.length <= MAX_CONTEXT) this.#tasks.set(taskKey(asked, taskId), contextId);
    return contextId;
  }

  /** The outer levels of a response, which is not held, and its start; no value if it is too long or breaks. */
  async #outline(body: HttpBody, levels: number): Promise<{ readonly value: unknown; readonly start: BodyStart }> {
    const outline = new JsonOutline(levels);
    const quoted = new ByteCollector();
    let read = 0;
    let isWhole = false;
    try {
      for await (const part of this.#inTurns(body)) {
        outline.push(part);
        quoted.push(part.slice(0, MAX_SAID - quoted.length));
        read += part.length;
        if (read > MAX_TASK_BYTES) break;
      }
      isWhole = read <= MAX_TASK_BYTES;
    } catch {
      // It broke.
    }
    const start = { bytes: quoted.take(), isWhole: isWhole && read <= MAX_SAID };
    return { value: isWhole ? outline.value() : undefined, start };
  }

  /** A body in parts, with a turn for other requests after each. */
  async *#inTurns(body: HttpBody): AsyncGenerator<Uint8Array> {
    let left = TURN_BYTES;
    for await (const chunk of chunksOf(body)) {
      for (let at = 0; at < chunk.length; at += TURN_BYTES) {
        const part = chunk.subarray(at, at + TURN_BYTES);
        if (left < part.length) {
          await (turn = turn.then(this.#deps.nextTurn));
          left = TURN_BYTES;
        }
        left -= part.length;
        yield part;
      }
    }
  }

  async #isOwn({ visitor, scope }: Asked, contextId: string): Promise<boolean> {
    return this.#deps.contexts.verify(contextId, visitor.keys, scope) || (await visitor.owns?.(contextId)) === true;
  }

  async #checkOwn(asked: Asked, contextId: string): Promise<void> {
    if (await this.#isOwn(asked, contextId)) return;
    if (!this.#hasWarned) {
      this.#hasWarned = true;
      const detail =
        'A visitor named a conversation that this site did not begin for them, and was refused: their cookie is gone, or it is not theirs. If every second message is refused, the agent names conversations itself: see docs/conversations.md.';
      this.#deps.telemetry.emit({ type: 'warning', code: 'conversation_unknown', detail });
    }
    throw unknownConversation();
  }
}

function taskKey({ call, scope }: Asked, taskId: string): string {
  const { owner } = call.caller.credential;
  return JSON.stringify([owner.principal ?? owner.reader, scope.tenant, taskId]);
}

/** Rejects a call with anything that the specification does not define. */
function checkForm(call: GuardedCall, method: string): void {
  const { binding, query, tenants, body } = call;
  const known = PARAMS.get(method);
  if (known === undefined) {
    const detail = 'This method is not available where conversations belong to their visitors.';
    throw new RequestError('method_denied', { detail, hint: 'Use a method of the chat.', rpcCode: -32601 });
  }
  if (query !== '' && !QUERY[binding].test(query))
    throw invalid('The query names something other than "A2A-Version" and "historyLength".');
  if (tenants.some((one) => one !== tenants[0])) throw invalid('The request names two tenants.');
  const { envelope, params, message, configuration } = body?.message.places ?? {};
  checkMembers(call, envelope, ENVELOPE);
  checkMembers(call, params, known);
  checkMembers(call, message, MESSAGE);
  checkMembers(call, configuration, CONFIGURATION);
  if (known === SENDING && !message?.members.length) throw invalid('The request has no "message".');
}

function checkMembers({ body }: GuardedCall, place: ObjectPlace | undefined, names: ReadonlySet<string>): void {
  for (const { name, start } of place?.members ?? []) {
    if (names.has(name) || body?.bytes[start] === NULL) continue;
    throw invalid(`The member "${name.slice(0, 64)}" is not defined here.`);
  }
}

/** An id in the message; empty if it has none. */
function nameIn(call: GuardedCall, name: string): string {
  const value = memberOf(call, 'message', name) ?? '';
  if (typeof value === 'string') return value;
  throw invalid(`"${name}" is not a string.`);
}

/** The task that path or params name; both must agree. */
function namedTask(call: GuardedCall): string {
  const id = memberOf(call, 'params', 'id');
  if (call.taskId !== undefined && id !== undefined && id !== call.taskId) {
    throw invalid('Path and body name different tasks.');
  }
  return taskName(call.taskId ?? id);
}

/** An id that every parser reads alike, in a body and in a path. */
function taskName(value: unknown): string {
  const isPlain = typeof value === 'string' && /^[!-~]+$/.test(value) && !endsInCall(value);
  if (isPlain && decodeSegment(encodeURIComponent(value)) === value) return value;
  throw unknownConversation();
}

/**
 * The same error for another visitor's conversation and for one that never existed, so that a guess reveals nothing.
 */
function unknownConversation(): RequestError {
  return new RequestError('conversation_unknown', {
    detail: 'There is no such conversation, or it is not yours.',
    hint: 'Start a new conversation.',
    rpcCode: -32001,
  });
}

function invalid(detail: string): RequestError {
  const hint = 'Send only members of the A2A specification, each with a valid value.';
  return new RequestError('body_invalid', { detail, hint, rpcCode: -32602 });
}
