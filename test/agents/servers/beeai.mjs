import { A2AServer, A2AServerConfig } from 'beeai-framework/adapters/a2a/serve/server';
import { ToolCallingAgent } from 'beeai-framework/agents/toolCalling/agent';
import { ChatModel, ChatModelOutput } from 'beeai-framework/backend/chat';
import { AssistantMessage } from 'beeai-framework/backend/message';
import { Emitter } from 'beeai-framework/emitter/emitter';
import { UnconstrainedMemory } from 'beeai-framework/memory/unconstrainedMemory';
import { announce, piecesOf, PORT } from './script.mjs';

class ScriptedModel extends ChatModel {
  modelId = 'scripted';
  emitter = Emitter.root.child({ namespace: ['backend', 'scripted', 'chat'], creator: this });
  get providerId() {
    return 'scripted';
  }
  async _create({ messages }, run) {
    const words = messages.findLast(({ role }) => role === 'user').text;
    let response = '';
    for await (const piece of piecesOf(words, run.signal)) response += piece;
    const call = { type: 'tool-call', toolCallId: '1', toolName: 'final_answer', input: { response } };
    return new ChatModelOutput([new AssistantMessage(call)]);
  }
  _createStream() {
    throw new Error('Only whole answers.');
  }
}

const agent = new ToolCallingAgent({ llm: new ScriptedModel(), memory: new UnconstrainedMemory(), tools: [] });
const config = Object.assign(new A2AServerConfig(), { host: '127.0.0.1', port: PORT });
await new A2AServer(config).register(agent, { name: 'helper', url: `http://127.0.0.1:${PORT}` }).serve();
announce(`http://127.0.0.1:${PORT}/`);
