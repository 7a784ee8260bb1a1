import { registerHooks } from 'node:module';
import { announce, lastWords, piecesOf, PORT } from './script.mjs';

// Strands needs zod 4, which zod 3.25 contains; BeeAI needs zod 3, and npm installs one of them for both.
registerHooks({ resolve: (name, context, next) => next(name === 'zod' ? 'zod/v4' : name, context) });
const { Agent, Model } = await import('@strands-agents/sdk');
const { A2AExpressServer } = await import('@strands-agents/sdk/a2a/express');

class ScriptedModel extends Model {
  updateConfig() {}
  getConfig() {
    return { modelId: 'scripted' };
  }
  async *stream(messages) {
    yield { type: 'modelMessageStartEvent', role: 'assistant' };
    yield { type: 'modelContentBlockStartEvent' };
    for await (const text of piecesOf(lastWords(messages)))
      yield { type: 'modelContentBlockDeltaEvent', delta: { type: 'textDelta', text } };
    yield { type: 'modelContentBlockStopEvent' };
    yield { type: 'modelMessageStopEvent', stopReason: 'endTurn' };
  }
}

const agentFactory = () => new Agent({ model: new ScriptedModel(), printer: false });
const server = new A2AExpressServer({ agentFactory, name: 'Helper', port: PORT });
await server.serve();
announce(`http://127.0.0.1:${server.port}/`);
