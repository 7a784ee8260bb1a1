import { TaskState } from '@a2a-js/sdk';
import { ClientFactory } from '@a2a-js/sdk/client';
import type { AgentCard, Message as Message03, Task as Task03 } from 'a2a-sdk-0.3';
import { ClientFactory as ClientFactory03 } from 'a2a-sdk-0.3/client';
import { createAgentCard } from '../../examples/platform/agent-card.js';
import { spoken } from './a2a-message.js';

/** One step of a task, told alike for every generation of the protocol. */
export interface Step {
  readonly taskId: string;
  /** Such as `working` or `completed`; empty when the step tells none. */
  readonly state: string;
  /** What the step adds to the answer. */
  readonly text: string;
}

/** A2A client of one generation. */
export interface ChatClient {
  send(text: string): Promise<Step>;
  stream(text: string, signal?: AbortSignal): AsyncIterable<Step>;
  get(taskId: string): Promise<Step>;
  cancel(taskId: string): Promise<Step>;
  resubscribe(taskId: string): AsyncIterable<Step>;
}

interface TextPart {
  readonly text?: string;
  readonly content?: { readonly $case: string; readonly value: unknown } | undefined;
}

const textOf = (parts: readonly unknown[] = []): string =>
  (parts as TextPart[])
    .map(({ text, content }) => text ?? (content?.$case === 'text' ? String(content.value) : ''))
    .join('');

const artifactText = (artifacts: readonly { parts: readonly unknown[] }[] = []): string =>
  artifacts.map(({ parts }) => textOf(parts)).join('');

const stateName = (state: TaskState | undefined): string =>
  state === undefined ? '' : TaskState[state].replace('TASK_STATE_', '').toLowerCase();

/** @a2a-js/sdk 1.3.0, on the wire in version 1.0 or 0.3. */
export async function sdk1(endpoint: string, version: '1.0' | '0.3'): Promise<ChatClient> {
  const card = createAgentCard(endpoint);
  const supportedInterfaces = card.supportedInterfaces.filter((offer) => offer.protocolVersion.startsWith(version));
  const client = await new ClientFactory().createFromAgentCard({ ...card, supportedInterfaces });
  type Payload = Awaited<ReturnType<typeof client.sendMessage>>;
  type Task = Extract<Payload, { status: unknown }>;

  const ofTask = ({ id, status, artifacts }: Task): Step => ({
    taskId: id,
    state: stateName(status?.state),
    text: artifactText(artifacts),
  });
  async function* steps(events: ReturnType<typeof client.sendMessageStream>): AsyncGenerator<Step> {
    for await (const { payload } of events) {
      if (payload?.$case === 'task') yield ofTask(payload.value);
      if (payload?.$case === 'statusUpdate') {
        yield { taskId: payload.value.taskId, state: stateName(payload.value.status?.state), text: '' };
      }
      if (payload?.$case === 'artifactUpdate') {
        yield { taskId: payload.value.taskId, state: '', text: textOf(payload.value.artifact?.parts) };
      }
    }
  }

  return {
    send: async (text) => ofTask((await client.sendMessage(spoken(text))) as Task),
    stream: (text, signal) => steps(client.sendMessageStream(spoken(text), signal === undefined ? {} : { signal })),
    get: async (id) => ofTask(await client.getTask({ tenant: '', id })),
    cancel: async (id) => ofTask(await client.cancelTask({ tenant: '', id, metadata: undefined })),
    resubscribe: (id) => steps(client.resubscribeTask({ tenant: '', id })),
  };
}

/** @a2a-js/sdk 0.3.14, with the card the platform serves to clients of its time. */
export async function sdk03(endpoint: string, platformUrl: string): Promise<ChatClient> {
  const card = (await (await fetch(`${platformUrl}/.well-known/agent-card.json`)).json()) as AgentCard;
  const client = await new ClientFactory03().createFromAgentCard({ ...card, url: endpoint, additionalInterfaces: [] });

  const ofTask = (task: Task03 | Message03): Step => {
    if (task.kind !== 'task') throw new Error('the agent answered with a message');
    return { taskId: task.id, state: task.status.state, text: artifactText(task.artifacts) };
  };
  async function* steps(events: ReturnType<typeof client.sendMessageStream>): AsyncGenerator<Step> {
    for await (const event of events) {
      if (event.kind === 'task') yield ofTask(event);
      if (event.kind === 'status-update') yield { taskId: event.taskId, state: event.status.state, text: '' };
      if (event.kind === 'artifact-update')
        yield { taskId: event.taskId, state: '', text: textOf(event.artifact.parts) };
    }
  }
  const request = (text: string) => ({
    message: {
      kind: 'message' as const,
      messageId: crypto.randomUUID(),
      role: 'user' as const,
      parts: [{ kind: 'text' as const, text }],
    },
  });

  return {
    send: async (text) => ofTask(await client.sendMessage(request(text))),
    stream: (text, signal) => steps(client.sendMessageStream(request(text), signal === undefined ? {} : { signal })),
    get: async (id) => ofTask(await client.getTask({ id })),
    cancel: async (id) => ofTask(await client.cancelTask({ id })),
    resubscribe: (id) => steps(client.resubscribeTask({ id })),
  };
}
