import type { HttpBody } from '../../ports/http.js';
import { ByteCollector } from '../shared/bytes.js';
import { isAgentBffError } from '../shared/errors.js';
import { isObject, parsedJson } from '../shared/json.js';
import { MAX_JSON_VALUES } from '../shared/json-document.js';
import { LruMap } from '../shared/lru-map.js';
import { type BodyStart, chunksOf } from '../upstream/body-bytes.js';
import {
  MAX_SAID,
  type PlatformErrors,
  type PlatformReply,
  refuseRedirect,
  refusesSite,
} from '../upstream/platform-error.js';
import { unknownConversation } from './call-form.js';

export interface TaskContextsDependencies {
  readonly errors: PlatformErrors;
  /** The memory of request bodies, which a task that is read is charged to. */
  readonly bodies: { hold(bytes: number): { release(): void } };
  /** Resolves in the next turn of the event loop. */
  readonly nextTurn: () => Promise<void>;
}

const MAX_TASKS = 10_000;
/** Maximum characters of a cached context. */
const MAX_CONTEXT = 256;
/** Maximum bytes of a task that is read. */
const MAX_TASK_BYTES = 4_194_304;
/** Resolves when the last task in line was parsed: one in each turn, however many there are. */
let turn = Promise.resolve();

/** The contexts of tasks, which never change, as the agent states them. */
export class TaskContexts {
  readonly #deps: TaskContextsDependencies;
  readonly #known = new LruMap<string>({ maxEntries: MAX_TASKS });

  constructor(dependencies: TaskContextsDependencies) {
    this.#deps = dependencies;
  }

  /** The context that was read before; `key` distinguishes the task from those of other callers. */
  known(key: string): string | undefined {
    return this.#known.get(key);
  }

  /**
   * The context in the agent's response about a task. Only an error of the protocol means that there is no task; other
   * failures stay what they are.
   */
  async read(reply: PlatformReply, isRpc: boolean, taskId: string, key: string): Promise<string> {
    const { response } = reply;
    const { status } = response;
    refuseRedirect(response, reply.counterpart);
    if (refusesSite(reply) || status === 429 || status >= 500) throw await this.#deps.errors.replacing(reply);
    const { value, start } = await this.#parsed(response.body);
    if ((status === 404 && !isRpc) || (isObject(value) && isObject(value['error']))) throw unknownConversation();
    if (!isObject(value) || status >= 400) throw await this.#deps.errors.replacing(reply, start);
    const task = isRpc ? value['result'] : value;
    if (!isObject(task) || task['id'] !== taskId || typeof task['contextId'] !== 'string') throw unknownConversation();
    const contextId = task['contextId'];
    if (contextId.length <= MAX_CONTEXT) this.#known.set(key, contextId);
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
}
