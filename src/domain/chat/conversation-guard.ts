import type { Telemetry } from '../../ports/telemetry.js';
import type { HttpBody } from '../../ports/http.js';
import { ByteCollector } from '../shared/bytes.js';
import { isAgentBffError, RequestError } from '../shared/errors.js';
import { isObject, parsedJson } from '../shared/json.js';
import { MAX_JSON_VALUES } from '../shared/json-document.js';
import { LruMap } from '../shared/lru-map.js';
import { warnOnce } from '../shared/warnings.js';
import { type BodyStart, chunksOf } from '../upstream/body-bytes.js';
import type { Caller } from '../upstream/platform-call.js';
import {
  MAX_SAID,
  type PlatformErrors,
  type PlatformReply,
  refuseRedirect,
  refusesSite,
} from '../upstream/platform-error.js';
import { decodeSegment } from '../upstream/safe-path.js';
import { type A2ACall, MAX_REFERENCES } from './call.js';
import { CONFIGURATION_MEMBERS, type LevelName, MESSAGE_MEMBERS } from './member-names.js';
import type { ContextScope, MintedContexts, VisitorKey } from './minted-contexts.js';
import { endsInCall } from './rest-paths.js';

/** The conversation of a call. */
export interface Conversation {
  /** The context of a message, or of its task if that is known. */
  readonly contextId?: string;
  /** True if the message does not name its context yet. */
  readonly isUnnamed?: boolean;
}

/** Asks the agent for a task, over the binding of the call. */
export type AskForTask = (taskId: string) => Promise<PlatformReply>;

/** Decides about the calls of one visitor. */
export interface ConversationCheck {
  /** @throws RequestError when the call names anything that is not this visitor's, or is not defined. */
  admit(call: A2ACall, caller: Caller, ask: AskForTask): Conversation | Promise<Conversation>;
}

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
  /** The memory of request bodies, which a task that is read is charged to. */
  readonly bodies: { hold(bytes: number): { release(): void } };
  /** Resolves in the next turn of the event loop. */
  readonly nextTurn: () => Promise<void>;
}

/** One call of one visitor. */
interface Asked {
  readonly visitor: Visitor;
  readonly call: A2ACall;
  readonly caller: Caller;
  readonly ask: AskForTask;
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
const ENVELOPE: ReadonlySet<string> = new Set(['id', 'jsonrpc', 'method', 'params']);
const MESSAGE: ReadonlySet<string> = new Set(MESSAGE_MEMBERS);
const CONFIGURATION: ReadonlySet<string> = new Set(CONFIGURATION_MEMBERS);
const QUERY = {
  JSONRPC: /^\?A2A-Version=[\w.]*$/i,
  'HTTP+JSON': /^\?(?:(?:A2A-Version|historyLength)=[\w.]*(?:&(?!$)|$))+$/i,
};
const MAX_TASKS = 10_000;
/** Maximum characters of a cached context. */
const MAX_CONTEXT = 256;
/** Maximum bytes of a task that is read. */
const MAX_TASK_BYTES = 4_194_304;
const NOT_THEIRS =
  'A visitor named a conversation that this site did not begin for them, and was refused: their cookie is gone, or it is not theirs. If every second message is refused, the agent names conversations itself: see docs/conversations.md.';
/** Resolves when the last task in line was parsed: one in each turn, however many there are. */
let turn = Promise.resolve();

/**
 * Lets each visitor into their own conversations only. The agent knows one user, so everything that names a
 * conversation or a task is checked here: a context by its own MAC, a task by asking the agent for its context.
 */
export class ConversationGuard {
  readonly #deps: ConversationGuardDependencies;
  /** The contexts of tasks, which never change. */
  readonly #tasks = new LruMap<string>({ maxEntries: MAX_TASKS });

  constructor(dependencies: ConversationGuardDependencies) {
    this.#deps = dependencies;
  }

  of(visitor: Visitor): ConversationCheck {
    return { admit: (call, caller, ask) => this.#admit(visitor, call, caller, ask) };
  }

  #admit(visitor: Visitor, call: A2ACall, caller: Caller, ask: AskForTask): Conversation | Promise<Conversation> {
    checkForm(call);
    const { owner } = caller.credential;
    const scope = { agent: this.#deps.agent, tenant: call.tenants[0] ?? '', account: owner.account ?? '' };
    const asked = { visitor, call, caller, ask, scope };
    if (call.kind === 'starts') return this.#assign(asked);
    return call.kind === 'reads' ? this.#taskContext(asked, namedTask(call)).then((contextId) => ({ contextId })) : {};
  }

  /** The context that a message is sent in: its own, its task's, or a new one. */
  #assign(asked: Asked): Conversation | Promise<Conversation> {
    const { call, visitor, scope } = asked;
    const contextId = nameIn(call, 'contextId');
    const taskId = nameIn(call, 'taskId');
    const references = call.body?.references;
    if (references === undefined) {
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
    references: readonly string[],
  ): Promise<Conversation> {
    // First without calling the agent.
    if (contextId !== '') await this.#checkOwn(asked, contextId);
    for (const reference of new Set(references)) await this.#taskContext(asked, taskName(reference));
    if (taskId === '') return this.#placed(asked, contextId);
    const taken = await this.#taskContext(asked, taskName(taskId));
    if (contextId === '' || contextId === taken) return { contextId: taken, isUnnamed: contextId === '' };
    throw unknownConversation();
  }

  #placed({ visitor, scope }: Asked, contextId: string): Conversation {
    if (contextId !== '') return { contextId };
    return { contextId: this.#deps.contexts.mint(visitor.keys[0], scope), isUnnamed: true };
  }

  /** The context of a task, which must be this visitor's. */
  async #taskContext(asked: Asked, taskId: string): Promise<string> {
    const known = this.#tasks.get(taskKey(asked, taskId));
    if (known !== undefined && (await this.#isOwn(asked, known))) return known;
    // Another visitor's task is looked up each time, so that neither time nor limits distinguish it from a missing one.
    await asked.visitor.countLookup();
    const contextId = await this.#read(await asked.ask(taskId), asked, taskId);
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
    const { value, start } = await this.#parsed(response.body);
    if ((status === 404 && !isRpc) || (isObject(value) && isObject(value['error']))) throw unknownConversation();
    if (!isObject(value) || status >= 300) throw await this.#deps.errors.replacing(reply, start);
    const task = isRpc ? value['result'] : value;
    if (!isObject(task) || task['id'] !== taskId || typeof task['contextId'] !== 'string') throw unknownConversation();
    const contextId = task['contextId'];
    if (contextId.length <= MAX_CONTEXT) this.#tasks.set(taskKey(asked, taskId), contextId);
    return contextId;
  }

  /** The value of a response, and its start; no value if it is too long, has too many values, or breaks. */
  async #parsed(body: HttpBody): Promise<{ readonly value: unknown; readonly start: BodyStart }> {
    const { bodies, nextTurn } = this.#deps;
    const read = new ByteCollector();
    let isWhole = false;
    let held = bodies.hold(0);
    try {
      for await (const chunk of chunksOf(body)) {
        held.release();
        held = bodies.hold(read.length + chunk.length);
        read.push(chunk);
        if (read.length > MAX_TASK_BYTES) break;
      }
      isWhole = read.length <= MAX_TASK_BYTES;
      await (turn = turn.then(nextTurn));
      const bytes = read.take();
      const value = isWhole ? parsedJson(new TextDecoder().decode(bytes), MAX_JSON_VALUES) : undefined;
      return { value, start: { bytes: bytes.subarray(0, MAX_SAID), isWhole: isWhole && bytes.length <= MAX_SAID } };
    } catch (error) {
      // Otherwise it broke.
      if (isAgentBffError(error)) throw error;
      return { value: undefined, start: { bytes: read.take().subarray(0, MAX_SAID), isWhole: false } };
    } finally {
      held.release();
    }
  }

  async #isOwn({ visitor, scope }: Asked, contextId: string): Promise<boolean> {
    return this.#deps.contexts.verify(contextId, visitor.keys, scope) || (await visitor.owns?.(contextId)) === true;
  }

  async #checkOwn(asked: Asked, contextId: string): Promise<void> {
    if (await this.#isOwn(asked, contextId)) return;
    warnOnce(this.#deps.telemetry, 'conversation_unknown', NOT_THEIRS);
    throw unknownConversation();
  }
}

function taskKey({ caller, scope }: Asked, taskId: string): string {
  const { owner } = caller.credential;
  return JSON.stringify([owner.principal ?? owner.reader, scope.tenant, taskId]);
}

/** Rejects a call with anything that the specification does not define. */
function checkForm(call: A2ACall): void {
  const { binding, method, query, tenants, body } = call;
  const known = PARAMS.get(method);
  if (known === undefined) {
    const detail = 'This method is not available where conversations belong to their visitors.';
    throw new RequestError('method_denied', { detail, hint: 'Use a method of the chat.', rpcCode: -32601 });
  }
  if (query !== '' && !QUERY[binding].test(query))
    throw invalid('The query names something other than "A2A-Version" and "historyLength".');
  if (tenants.some((one) => one !== tenants[0])) throw invalid('The request names two tenants.');
  checkNames(body?.names.envelope, ENVELOPE);
  checkNames(body?.names.params, known);
  checkNames(body?.names.message, MESSAGE);
  checkNames(body?.names.configuration, CONFIGURATION);
  if (known === SENDING && !body?.names.message?.length) throw invalid('The request has no "message".');
}

function checkNames(names: readonly string[] = [], defined: ReadonlySet<string>): void {
  for (const name of names) {
    if (!defined.has(name)) throw invalid(`The member "${name.slice(0, 64)}" is not defined here.`);
  }
}

function hasMember({ body }: A2ACall, level: LevelName, name: string): boolean {
  return body?.names[level]?.includes(name) === true;
}

/** An id in the message; empty if it has none. */
function nameIn(call: A2ACall, name: 'contextId' | 'taskId'): string {
  if (!hasMember(call, 'message', name)) return '';
  const id = call.body?.[name];
  if (id === undefined) throw invalid(`"${name}" is not a string.`);
  return id;
}

/** The task that path or params name; both must agree. */
function namedTask(call: A2ACall): string {
  const { rest, taskId, body } = call;
  const inPath = rest?.path.taskId;
  if (inPath !== undefined && hasMember(call, 'params', 'id') && body?.taskId !== inPath) {
    throw invalid('Path and body name different tasks.');
  }
  return taskName(taskId);
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
