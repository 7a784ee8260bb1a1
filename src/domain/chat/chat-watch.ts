import type { Clock } from '../../ports/clock.js';
import type { TelemetryEvent } from '../../ports/telemetry.js';
import { isObject, parsedJson } from '../shared/json.js';
import { EVENT_END, eventData } from '../shared/server-sent-events.js';
import { knownMethod } from './call.js';

/** The event of a chat call, and its parts. */
export type ChatEvent = Extract<TelemetryEvent, { type: 'chat' }>;
type TaskState = NonNullable<ChatEvent['state']>;

/** The call as its request names it. */
export interface WatchedCall {
  /** Under its name in v1.0, or any other text: the visitor may have made it up. */
  readonly method: string;
  /** A text of this visitor alone. Absent with open conversations. */
  readonly visitor?: string | undefined;
  readonly contextId?: string | undefined;
  readonly taskId?: string | undefined;
}

export interface ChatWatchDependencies {
  readonly clock: Clock;
  /** A keyed one-way digest: says nothing about the text to a reader of the log. */
  readonly digest: (text: string) => string;
}

const STATES: ReadonlySet<string> = new Set<TaskState>([
  'submitted',
  'working',
  'completed',
  'failed',
  'canceled',
  'rejected',
  'input-required',
  'auth-required',
]);
/** The names of one answer in v1.0; in v0.2 and v0.3 the answer itself has a `kind`. */
const WRAPPERS = ['task', 'message', 'statusUpdate', 'artifactUpdate'];
/** Members of `metadata` in which agents report their use of a model: most of them, and ADK. */
const USAGES = ['usage', 'usageMetadata', 'adk_usage_metadata'];
const INPUT = ['inputTokens', 'input_tokens', 'promptTokens', 'prompt_tokens', 'promptTokenCount'];
const OUTPUT = ['outputTokens', 'output_tokens', 'completionTokens', 'completion_tokens', 'candidatesTokenCount'];
/** Maximum characters of one event, or of a finished answer, that are read; longer ones are only counted. */
const MAX_TEXT = 262_144;

/** Learns the facts of one chat call from its response, if a listener asks for them. The bytes are passed on unchanged. */
export class ChatWatch {
  readonly #deps: ChatWatchDependencies;
  readonly #call: WatchedCall;
  readonly #startedAt: number;
  readonly #decoder = new TextDecoder();
  #isEvents = false;
  #isReadable = false;
  /** The text since the last event. */
  #text = '';
  /** Its last characters, which may be the first half of an event's end. */
  #tail = '';
  #bytes = 0;
  #events = 0;
  #firstEventMs: number | undefined;
  readonly #answer: { -readonly [Name in 'state' | 'errorCode' | 'usage']?: ChatEvent[Name] } & {
    contextId?: string;
    taskId?: string;
  } = {};

  constructor(dependencies: ChatWatchDependencies, call: WatchedCall) {
    this.#deps = dependencies;
    this.#call = call;
    this.#startedAt = dependencies.clock.now();
  }

  /** The response begins. Compressed bytes are counted only. */
  begin(isEvents: boolean, isReadable: boolean): void {
    this.#isEvents = isEvents;
    this.#isReadable = isReadable;
  }

  push(chunk: Uint8Array): void {
    this.#bytes += chunk.length;
    if (!this.#isReadable) return;
    const come = this.#decoder.decode(chunk, { stream: true });
    this.#text += come;
    this.#tail += come;
    // The whole text is searched only once it contains the end of an event, so an event that arrives line by line is
    // not searched again for each line.
    if (this.#isEvents && EVENT_END.test(this.#tail)) {
      const events = this.#text.split(EVENT_END);
      this.#text = events.pop() ?? '';
      for (const event of events) this.#event(event);
    }
    this.#tail = this.#tail.slice(-3);
    // The end of the event is still found, but its text is not JSON any more.
    if (this.#text.length > MAX_TEXT) this.#text = `data:${this.#text.slice(-4)}`;
  }

  /** The facts once the response has ended. */
  end(outcome: ChatEvent['outcome'], requestId: string, route: string): ChatEvent {
    if (this.#isReadable && !this.#isEvents) this.#read(this.#text);
    const { digest, clock } = this.#deps;
    const { method, visitor } = this.#call;
    const { contextId = this.#call.contextId, taskId = this.#call.taskId, ...answer } = this.#answer;
    return {
      type: 'chat',
      requestId,
      route,
      method: knownMethod(method),
      ...(visitor !== undefined && { visitor: digest(`visitor ${visitor}`) }),
      ...(contextId !== undefined && { context: digest(`context ${contextId}`) }),
      ...(taskId !== undefined && { task: digest(`task ${taskId}`) }),
      ...answer,
      outcome,
      durationMs: clock.now() - this.#startedAt,
      ...(this.#firstEventMs !== undefined && { firstEventMs: this.#firstEventMs }),
      events: this.#events,
      bytes: this.#bytes,
    };
  }

  #event(text: string): void {
    const data = eventData(text);
    // A comment keeps the connection alive.
    if (data === undefined) return;
    this.#events += 1;
    this.#firstEventMs ??= this.#deps.clock.now() - this.#startedAt;
    this.#read(data);
  }

  #read(text: string): void {
    const value = parsedJson(text);
    if (!isObject(value)) return;
    const { error } = value;
    if (isObject(error)) {
      if (Number.isInteger(error['code'])) this.#answer.errorCode = error['code'] as number;
      return;
    }
    const result = 'jsonrpc' in value ? value['result'] : value;
    if (!isObject(result)) return;
    const [wrapper] = WRAPPERS.filter((name) => isObject(result[name]) && !('kind' in result));
    const one = (wrapper === undefined ? result : result[wrapper]) as Readonly<Record<string, unknown>>;
    const isTask = wrapper === 'task' || one['kind'] === 'task' || (isObject(one['status']) && 'id' in one);
    this.#note(one['contextId'], isTask ? one['id'] : one['taskId']);
    const status = isObject(one['status']) ? one['status'] : {};
    const state = stateOf(status['state']);
    if (state !== undefined) this.#answer.state = state;
    for (const source of [one, status['message']]) {
      const usage = isObject(source) ? usageOf(source['metadata']) : undefined;
      if (usage !== undefined) this.#answer.usage = usage;
    }
  }

  #note(contextId: unknown, taskId: unknown): void {
    if (typeof contextId === 'string' && contextId !== '') this.#answer.contextId = contextId;
    if (typeof taskId === 'string' && taskId !== '') this.#answer.taskId = taskId;
  }
}

/** A state under its name in v0.3: v1.0 writes `TASK_STATE_INPUT_REQUIRED`. */
function stateOf(value: unknown): TaskState | undefined {
  if (typeof value !== 'string') return undefined;
  const name = value
    .replace(/^TASK_STATE_/, '')
    .replaceAll('_', '-')
    .toLowerCase();
  return STATES.has(name) ? (name as TaskState) : undefined;
}

function usageOf(metadata: unknown): ChatEvent['usage'] {
  if (!isObject(metadata)) return undefined;
  const usage = USAGES.map((name) => metadata[name]).find(isObject);
  if (usage === undefined) return undefined;
  const count = (names: readonly string[]): number | undefined =>
    names
      .map((name) => usage[name])
      .find((value): value is number => Number.isSafeInteger(value) && Number(value) >= 0);
  const [inputTokens, outputTokens] = [count(INPUT), count(OUTPUT)];
  if (inputTokens === undefined && outputTokens === undefined) return undefined;
  return { ...(inputTokens !== undefined && { inputTokens }), ...(outputTokens !== undefined && { outputTokens }) };
}
