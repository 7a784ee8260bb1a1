// A model of the AI SDK (versions 2 and 3 of its specification) that follows the script.
import { lastWords, piecesOf } from './script.mjs';

const USAGE = {
  v2: { inputTokens: 1, outputTokens: 1, totalTokens: 2 },
  v3: { inputTokens: { total: 1 }, outputTokens: { total: 1 } },
};

export function scriptedModel(version) {
  const usage = USAGE[version];
  const finishReason = version === 'v2' ? 'stop' : { unified: 'stop', raw: 'stop' };
  return {
    specificationVersion: version,
    provider: 'scripted',
    modelId: 'scripted',
    supportedUrls: {},
    async doGenerate({ prompt, abortSignal }) {
      let text = '';
      for await (const piece of piecesOf(lastWords(prompt), abortSignal)) text += piece;
      return { content: [{ type: 'text', text }], finishReason, usage, warnings: [] };
    },
    doStream({ prompt, abortSignal }) {
      const pieces = piecesOf(lastWords(prompt), abortSignal);
      const stream = new ReadableStream({
        async start(controller) {
          controller.enqueue({ type: 'stream-start', warnings: [] });
          try {
            controller.enqueue({ type: 'text-start', id: '1' });
            for await (const delta of pieces) controller.enqueue({ type: 'text-delta', id: '1', delta });
            controller.enqueue({ type: 'text-end', id: '1' });
            controller.enqueue({ type: 'finish', finishReason, usage });
            controller.close();
          } catch (error) {
            controller.error(error);
          }
        },
      });
      return Promise.resolve({ stream });
    },
  };
}
