import { Role, TaskState } from '@a2a-js/sdk';
import { AgentEvent, DefaultRequestHandler, InMemoryTaskStore } from '@a2a-js/sdk/server';
import { jsonRpcHandler, restHandler, UserBuilder } from '@a2a-js/sdk/server/express';
import {
  DefaultRequestHandler as Handler02,
  InMemoryTaskStore as Store02,
  A2AExpressApp as App02,
} from 'a2a-sdk-0.2/server';
import { DefaultRequestHandler as Handler03, InMemoryTaskStore as Store03 } from 'a2a-sdk-0.3/server';
import { A2AExpressApp as App03 } from 'a2a-sdk-0.3/server/express';
import express, { type Express } from 'express';
import { openListener } from '../../examples/http-listener.js';
import { WAIT } from './conversation-people.js';

/** An agent that answers with everything said in the same context, and counts its calls. */
export interface RememberingAgent {
  readonly a2aUrl: string;
  /** Bodies of the calls so far, or method and path of calls without one. */
  readonly calls: readonly string[];
  close(): Promise<void>;
}

export { WAIT };

interface Turn {
  readonly taskId: string;
  readonly contextId: string;
  readonly userMessage: unknown;
  readonly task?: unknown;
}
interface Bus {
  publish(event: never): void;
  finished(): void;
}

/** The memory of one agent, by context, as common agents keep it. */
class Memory {
  readonly #said = new Map<string, string[]>();
  readonly #waiting = new Map<string, { readonly contextId: string; readonly bus: Bus }>();

  remember({ contextId, userMessage }: Turn): { readonly words: string; readonly answer: string } {
    const words = JSON.stringify(userMessage);
    const said = [...(this.#said.get(contextId) ?? []), words];
    this.#said.set(contextId, said);
    return { words, answer: said.join(' ') };
  }

  wait({ taskId, contextId }: Turn, bus: Bus): void {
    this.#waiting.set(taskId, { contextId, bus });
  }

  stop(taskId: string, bus: Bus): { readonly contextId: string; readonly bus: Bus } {
    return this.#waiting.get(taskId) ?? { contextId: '', bus };
  }
}

/** The events of A2A 0.2 and 0.3. */
class OldExecutor {
  readonly #memory = new Memory();

  readonly execute = (turn: Turn, bus: Bus): Promise<void> => {
    const { taskId, contextId, userMessage, task } = turn;
    const { words, answer } = this.#memory.remember(turn);
    const status = { state: 'working' };
    bus.publish((task ?? { kind: 'task', id: taskId, contextId, status, history: [userMessage] }) as never);
    if (words.includes(WAIT)) return Promise.resolve(this.#memory.wait(turn, bus));
    const parts = [{ kind: 'text', text: answer }];
    bus.publish({ kind: 'artifact-update', taskId, contextId, artifact: { artifactId: taskId, parts } } as never);
    this.#end(taskId, contextId, 'input-required', bus);
    return Promise.resolve();
  };

  readonly cancelTask = (taskId: string, given: Bus): Promise<void> => {
    const { contextId, bus } = this.#memory.stop(taskId, given);
    this.#end(taskId, contextId, 'canceled', bus);
    return Promise.resolve();
  };

  #end(taskId: string, contextId: string, state: string, bus: Bus): void {
    bus.publish({ kind: 'status-update', taskId, contextId, status: { state }, final: true } as never);
    bus.finished();
  }
}

/** The events of A2A 1.0. */
class NewExecutor {
  readonly #memory = new Memory();

  readonly execute = (turn: Turn, bus: Bus): Promise<void> => {
    const { taskId, contextId, userMessage, task } = turn;
    const { words, answer } = this.#memory.remember(turn);
    const status = { state: TaskState.TASK_STATE_WORKING, message: undefined, timestamp: undefined };
    const fresh = { id: taskId, contextId, artifacts: [], history: [userMessage], metadata: {}, status };
    bus.publish(AgentEvent.task((task ?? fresh) as never) as never);
    if (words.includes(WAIT)) return Promise.resolve(this.#memory.wait(turn, bus));
    const part = { content: { $case: 'text', value: answer }, metadata: {}, filename: '', mediaType: '' } as const;
    const artifact = { artifactId: taskId, name: '', description: '', parts: [part], metadata: {}, extensions: [] };
    const update = { taskId, contextId, artifact, append: false, lastChunk: true, metadata: {} };
    bus.publish(AgentEvent.artifactUpdate(update) as never);
    this.#end(taskId, contextId, TaskState.TASK_STATE_INPUT_REQUIRED, bus);
    return Promise.resolve();
  };

  readonly cancelTask = (taskId: string, given: Bus): Promise<void> => {
    const { contextId, bus } = this.#memory.stop(taskId, given);
    this.#end(taskId, contextId, TaskState.TASK_STATE_CANCELED, bus);
    return Promise.resolve();
  };

  #end(taskId: string, contextId: string, state: TaskState, bus: Bus): void {
    const message = {
      messageId: taskId,
      contextId,
      taskId,
      role: Role.ROLE_AGENT,
      parts: [],
      metadata: {},
      extensions: [],
      referenceTaskIds: [],
    };
    const status = { state, message, timestamp: undefined };
    bus.publish(AgentEvent.statusUpdate({ taskId, contextId, status, metadata: {} }) as never);
    bus.finished();
  }
}

type Serve = (app: Express, url: string) => void;

function oldCard(url: string): never {
  const modes = { defaultInputModes: ['text/plain'], defaultOutputModes: ['text/plain'], skills: [] };
  const names = { name: 'Helper', description: 'Remembers.', version: '1', protocolVersion: '0.3.0', url };
  return { ...names, ...modes, preferredTransport: 'JSONRPC', capabilities: { streaming: true } } as never;
}

const serve02: Serve = (app, url) => {
  const handler = new Handler02(oldCard(`${url}/`), new Store02(), new OldExecutor() as never);
  new App02(handler).setupRoutes(app as never);
};
const serve03: Serve = (app, url) => {
  const handler = new Handler03(oldCard(`${url}/`), new Store03(), new OldExecutor() as never);
  new App03(handler).setupRoutes(app as never);
};
const serve1: Serve = (app, url) => {
  const offer = { tenant: '', protocolVersion: '1.0' };
  const card = {
    name: 'Helper',
    description: 'Remembers.',
    version: '1',
    provider: undefined,
    supportedInterfaces: [
      { ...offer, url: `${url}/`, protocolBinding: 'JSONRPC' },
      { ...offer, url: `${url}/rest`, protocolBinding: 'HTTP+JSON' },
    ],
    capabilities: { streaming: true, pushNotifications: false, extendedAgentCard: false, extensions: [] },
    securitySchemes: {},
    securityRequirements: [],
    defaultInputModes: ['text/plain'],
    defaultOutputModes: ['text/plain'],
    skills: [],
    signatures: [],
  };
  const requestHandler = new DefaultRequestHandler(card, new InMemoryTaskStore(), new NewExecutor() as never);
  const options = { requestHandler, userBuilder: UserBuilder.noAuthentication };
  app.get('/.well-known/agent-card.json', (_request, response) => void response.json(card));
  app.use('/rest', restHandler(options));
  app.use('/', jsonRpcHandler(options));
};

async function start(serve: Serve): Promise<RememberingAgent> {
  const listener = await openListener(0, '127.0.0.1');
  const url = `http://127.0.0.1:${String(listener.port)}`;
  const calls: string[] = [];
  const app = express();
  app.use(express.json(), (request, _response, next) => {
    const { method, path, body } = request;
    // For the parser of Express 4, which would read the body again.
    Object.assign(request, { _body: true });
    if (!path.startsWith('/.well-known')) calls.push(method === 'POST' ? JSON.stringify(body) : `${method} ${path}`);
    next();
  });
  serve(app, url);
  listener.server.on('request', app);
  return { a2aUrl: `${url}/`, calls, close: () => listener.close() };
}

/** The agents by the published server they run on. Only the last speaks A2A 1.0, and HTTP+JSON too. */
export const AGENTS: Readonly<Record<string, () => Promise<RememberingAgent>>> = {
  '@a2a-js/sdk 0.2.5': () => start(serve02),
  '@a2a-js/sdk 0.3.14': () => start(serve03),
  '@a2a-js/sdk 1.3.0': () => start(serve1),
};
