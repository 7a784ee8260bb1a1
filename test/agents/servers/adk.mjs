import { BaseLlm, LlmAgent, setLogLevel } from '@google/adk';
import { toA2a } from '@google/adk/a2a';
import { announce, lastWords, piecesOf, PNG, PORT, sceneOf } from './script.mjs';

class ScriptedModel extends BaseLlm {
  constructor() {
    super({ model: 'scripted' });
  }
  async *generateContentAsync({ contents }) {
    const words = lastWords(contents);
    let text = '';
    for await (const piece of piecesOf(words)) {
      text += piece;
      yield { content: { role: 'model', parts: [{ text: piece }] }, partial: true };
    }
    const file =
      sceneOf(words) === 'file' ? [{ inlineData: { mimeType: 'image/png', data: PNG, displayName: 'dot.png' } }] : [];
    yield { content: { role: 'model', parts: [{ text }, ...file] }, turnComplete: true };
  }
  connect() {
    throw new Error('There is no live connection.');
  }
}

setLogLevel?.(4);
const agent = new LlmAgent({ name: 'helper', description: 'Follows the script.', model: new ScriptedModel() });
const app = await toA2a(agent, { host: '127.0.0.1', port: PORT, basePath: '/a2a', allowUnauthenticated: true });
app.listen(PORT, '127.0.0.1', () => announce(`http://127.0.0.1:${PORT}/a2a/jsonrpc`));
