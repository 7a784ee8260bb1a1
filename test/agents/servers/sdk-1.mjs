import { Role, TaskState } from 'a2a-sdk-1';
import { AgentEvent, DefaultRequestHandler, InMemoryTaskStore } from 'a2a-sdk-1/server';
import { agentCardHandler, jsonRpcHandler, UserBuilder } from 'a2a-sdk-1/server/express';
import express from 'express';
import { announce, piecesOf, PNG, PORT, QUESTION, sceneOf } from './script.mjs';
import { cardOf } from './sdk-executor.mjs';

const STATES = TaskState;
const part = ($case, value, more = {}) => ({
  content: { $case, value },
  metadata: {},
  filename: '',
  mediaType: '',
  ...more,
});

/** The script as events of A2A 1.0. A stream begins with the task. */
class ScriptedExecutor {
  #stops = new Map();

  execute = async ({ task, taskId, contextId, userMessage }, bus) => {
    const words = userMessage.parts.map(({ content }) => (content.$case === 'text' ? content.value : '')).join(' ');
    const scene = task === undefined ? sceneOf(words) : 'reply';
    const stop = new AbortController();
    this.#stops.set(taskId, stop);
    const messageOf = (text) =>
      text === undefined
        ? undefined
        : {
            messageId: crypto.randomUUID(),
            contextId,
            taskId,
            role: Role.ROLE_AGENT,
            parts: [part('text', text)],
            metadata: {},
            extensions: [],
            referenceTaskIds: [],
          };
    const statusOf = (state, text) => ({ state, message: messageOf(text), timestamp: new Date().toISOString() });
    const update = (state, text) =>
      bus.publish(AgentEvent.statusUpdate({ taskId, contextId, status: statusOf(state, text), metadata: {} }));
    const artifact = (artifactId, parts, append) =>
      bus.publish(
        AgentEvent.artifactUpdate({
          taskId,
          contextId,
          artifact: { artifactId, name: '', description: '', parts, metadata: {}, extensions: [] },
          append,
          lastChunk: false,
          metadata: {},
        }),
      );
    const fresh = { id: taskId, contextId, artifacts: [], history: [userMessage], metadata: {} };
    bus.publish(AgentEvent.task({ ...(task ?? fresh), status: task?.status ?? statusOf(STATES.TASK_STATE_WORKING) }));
    try {
      if (scene === 'question') return update(STATES.TASK_STATE_INPUT_REQUIRED, QUESTION);
      const artifactId = crypto.randomUUID();
      let append = false;
      for await (const piece of piecesOf(task === undefined ? words : `reply ${words}`, stop.signal)) {
        artifact(artifactId, [part('text', piece)], append);
        append = true;
      }
      const file = part('raw', Buffer.from(PNG, 'base64'), { filename: 'dot.png', mediaType: 'image/png' });
      if (scene === 'file') artifact(crypto.randomUUID(), [file], false);
      update(STATES.TASK_STATE_COMPLETED);
    } catch (error) {
      if (stop.signal.aborted) update(STATES.TASK_STATE_CANCELED);
      else update(STATES.TASK_STATE_FAILED, error.message);
    } finally {
      bus.finished();
    }
  };

  cancelTask = async (taskId) => {
    this.#stops.get(taskId)?.abort();
  };
}

const url = `http://127.0.0.1:${PORT}/`;
const { protocolVersion, preferredTransport: protocolBinding, url: _url, ...card } = cardOf('1.0', url);
const agentCard = {
  ...card,
  provider: undefined,
  supportedInterfaces: [{ url, protocolBinding, tenant: '', protocolVersion }],
  capabilities: { streaming: true, pushNotifications: false, extendedAgentCard: false, extensions: [] },
  securitySchemes: {},
  securityRequirements: [],
  signatures: [],
};
const requestHandler = new DefaultRequestHandler(agentCard, new InMemoryTaskStore(), new ScriptedExecutor());
const app = express();
app.use('/.well-known/agent-card.json', agentCardHandler({ agentCardProvider: () => Promise.resolve(agentCard) }));
app.use('/', jsonRpcHandler({ requestHandler, userBuilder: UserBuilder.noAuthentication }));
app.listen(PORT, '127.0.0.1', () => announce(url));
