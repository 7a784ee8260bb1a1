// An executor for the SDK of A2A 0.2 and 0.3 that follows the script. It also covers what the frameworks lack: a question and cancelling.
import { piecesOf, PNG, QUESTION, sceneOf } from './script.mjs';

export class ScriptedExecutor {
  #stops = new Map();

  execute = async ({ task, taskId, contextId, userMessage }, bus) => {
    const words = userMessage.parts.map(({ text = '' }) => text).join(' ');
    const scene = task === undefined ? sceneOf(words) : 'reply';
    const stop = new AbortController();
    this.#stops.set(taskId, stop);
    const status = (state, text) => {
      const parts = [{ kind: 'text', text }];
      const message = { kind: 'message', role: 'agent', messageId: crypto.randomUUID(), parts, taskId, contextId };
      const final = state !== 'working';
      const said = text === undefined ? {} : { message };
      bus.publish({ kind: 'status-update', taskId, contextId, status: { state, ...said }, final });
    };
    bus.publish(
      task ?? { kind: 'task', id: taskId, contextId, status: { state: 'submitted' }, history: [userMessage] },
    );
    status('working');
    try {
      if (scene === 'question') return status('input-required', QUESTION);
      const text = task === undefined ? words : `reply ${words}`;
      const artifactId = crypto.randomUUID();
      let append = false;
      for await (const piece of piecesOf(text, stop.signal)) {
        const artifact = { artifactId, parts: [{ kind: 'text', text: piece }] };
        bus.publish({ kind: 'artifact-update', taskId, contextId, artifact, append });
        append = true;
      }
      if (scene === 'file') {
        const file = { name: 'dot.png', mimeType: 'image/png', bytes: PNG };
        const artifact = { artifactId: crypto.randomUUID(), parts: [{ kind: 'file', file }] };
        bus.publish({ kind: 'artifact-update', taskId, contextId, artifact, append: false });
      }
      status('completed');
    } catch (error) {
      status(stop.signal.aborted ? 'canceled' : 'failed', stop.signal.aborted ? undefined : error.message);
    } finally {
      bus.finished();
    }
  };

  cancelTask = async (taskId) => {
    this.#stops.get(taskId)?.abort();
  };
}

export function cardOf(protocolVersion, url) {
  return {
    name: 'Helper',
    description: 'Follows the script.',
    version: '1.0.0',
    protocolVersion,
    url,
    preferredTransport: 'JSONRPC',
    capabilities: { streaming: true },
    defaultInputModes: ['text/plain'],
    defaultOutputModes: ['text/plain'],
    skills: [],
  };
}
