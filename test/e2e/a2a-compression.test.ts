import { createToolkit } from 'agent-bff';
import express from 'express';
import express4 from 'express4';
import { describe, expect, it, onTestFinished } from 'vitest';
import { expressSite } from '../site/frameworks/express.js';
import { GENERATIONS } from '../support/a2a-generations.js';
import { RecordingUpstream } from '../support/recording-upstream.js';
import { servedCard } from '../support/served-card.js';
import { visit } from '../support/visitor.js';

const TASK_ID = 'a4b1f5a2-8f0e-4c1e-9d29-0f2a7c7d2b11';

/** Says that the task goes on, in the words of the request's generation. */
function working(body: Buffer, step: number): string {
  const { id, method } = JSON.parse(body.toString()) as { id: unknown; method: string };
  const ids = { taskId: TASK_ID, contextId: 'context-1', metadata: { step } };
  const result =
    method === 'SendStreamingMessage'
      ? { statusUpdate: { ...ids, status: { state: 'TASK_STATE_WORKING' } } }
      : { kind: 'status-update', ...ids, status: { state: 'working' }, final: false };
  return `data: ${JSON.stringify({ jsonrpc: '2.0', id, result })}\n\n`;
}

async function startSite(framework: typeof express) {
  const upstream = await RecordingUpstream.start();
  const toolkit = createToolkit({ a2aUrl: `${upstream.origin}/a2a`, serviceApiKey: 'the-api-key' });
  const site = await expressSite('a site', framework, { compression: true }).start({
    toolkit,
    before: (request, response, next) => {
      void servedCard()(request as express.Request, response as express.Response, next);
    },
  });
  onTestFinished(async () => {
    await site.close();
    await upstream.close();
    await toolkit.close();
  });
  return { upstream, url: site.url };
}

describe.each([
  ['Express 4', express4],
  ['Express 5', express],
])('%s behind compression()', (_framework, framework) => {
  it.each(GENERATIONS)('shows a visitor with %s each event before the next one exists', async (_name, connect) => {
    const { upstream, url } = await startSite(framework);
    upstream.willWait();
    const talk = await connect(url);
    const events = talk.stream({ text: 'Hello' })[Symbol.asyncIterator]();
    let coming = events.next();
    const exchange = (await upstream.next()).eventStream();
    for (let step = 1; step <= 5; step += 1) {
      exchange.write(working(exchange.request.body, step));
      expect(JSON.stringify(await coming)).toContain(`"step":${String(step)}`);
      coming = events.next();
    }
    exchange.end();
    expect(await coming).toMatchObject({ done: true });
  });

  it('compresses what is no stream, so there is something to stand behind', async () => {
    const { upstream, url } = await startSite(framework);
    upstream.willAnswer((exchange) =>
      exchange.json(200, { jsonrpc: '2.0', id: 7, result: { text: 'word '.repeat(1_000) } }),
    );
    const reply = await visit(url, { headers: { 'accept-encoding': 'gzip' } });
    expect(reply.headers['content-encoding']).toBe('gzip');
    expect((await reply.ending()).clean).toBe(true);
  });
});
