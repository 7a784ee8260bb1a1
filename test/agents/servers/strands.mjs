import { Agent, Model } from '@strands-agents/sdk';
import { A2AExpressServer } from '@strands-agents/sdk/a2a/express';
import { announce, lastWords, piecesOf, PORT } from './script.mjs';

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
