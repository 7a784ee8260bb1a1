import type { Telemetry } from '../../ports/telemetry.js';
import { warnOnce } from '../shared/warnings.js';
import type { Caller } from '../upstream/platform-call.js';
import type { PlatformReply } from '../upstream/platform-error.js';
import { type A2ACall, MAX_REFERENCES } from './call.js';
import { checkForm, invalid, namedTask, nameIn, taskName, unknownConversation } from './call-form.js';
import type { ContextScope, MintedContexts, VisitorKey } from './minted-contexts.js';
import { TaskContexts, type TaskContextsDependencies } from './task-contexts.js';

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

export interface ConversationGuardDependencies extends TaskContextsDependencies {
  readonly contexts: MintedContexts;
  readonly telemetry: Telemetry;
  /** Address of the agent. */
  readonly agent: string;
}

/** One call of one visitor. */
interface Asked {
  readonly visitor: Visitor;
  readonly call: A2ACall;
  readonly caller: Caller;
  readonly ask: AskForTask;
  readonly scope: ContextScope;
}

const NOT_THEIRS =
  'A visitor named a conversation that this site did not begin for them, and was refused: their cookie is gone, or it is not theirs. If every second message is refused, the agent names conversations itself: see docs/conversations.md.';

/**
 * Lets each visitor into their own conversations only. The agent knows one user, so everything that names a
 * conversation or a task is checked here: a context by its own MAC, a task by asking the agent for its context.
 */
export class ConversationGuard {
  readonly #deps: ConversationGuardDependencies;
  readonly #tasks: TaskContexts;

  constructor(dependencies: ConversationGuardDependencies) {
    this.#deps = dependencies;
    this.#tasks = new TaskContexts(dependencies);
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
    const key = taskKey(asked, taskId);
    const known = this.#tasks.known(key);
    if (known !== undefined && (await this.#isOwn(asked, known))) return known;
    // Another visitor's task is looked up each time, so that neither time nor limits distinguish it from a missing one.
    await asked.visitor.countLookup();
    const isRpc = asked.call.binding === 'JSONRPC';
    const contextId = await this.#tasks.read(await asked.ask(taskId), isRpc, taskId, key);
    await this.#checkOwn(asked, contextId);
    return contextId;
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
