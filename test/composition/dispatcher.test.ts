import { Agent } from 'undici';
import { expect, it, onTestFinished } from 'vitest';
import type { ServerConfig, Toolkit } from '../../src/composition/index.js';
import { createShared } from '../../src/composition/toolkit/shared.js';
import { buildToolkit } from '../../src/composition/toolkit/toolkit.js';
import { textOf } from '../contracts/http-upstream.contract.js';
import { RecordingUpstream } from '../support/recording-upstream.js';
import { chatRoute } from '../support/toolkit-routes.js';

interface World {
  readonly agent: RecordingUpstream;
  readonly config: ServerConfig;
}

async function world(): Promise<World> {
  const agent = await RecordingUpstream.start();
  const dispatcher = new Agent();
  onTestFinished(async () => {
    await dispatcher.destroy();
    await agent.close();
  });
  const serviceAuthStrategy = 'none';
  return { agent, config: { a2aUrl: `${agent.origin}/a2a`, serviceAuthStrategy, dispatcher, telemetry: 'silent' } };
}

async function chat(toolkit: Toolkit): Promise<number> {
  const body = '{"jsonrpc":"2.0","id":1,"method":"message/send","params":{}}';
  const { status, body: answer } = await chatRoute(toolkit, { conversations: 'open' })({
    method: 'POST',
    path: '/',
    query: '',
    headers: { 'content-type': 'application/json' },
    body,
    bodyConsumed: false,
    native: { request: undefined },
    publicUrl: '',
    signal: new AbortController().signal,
    onSent: () => undefined,
  });
  await textOf(answer);
  return status;
}

it('a changed configuration keeps the connections of a way without a dispatcher', async () => {
  const { agent, config } = await world();
  const parted = { ...config, dispatcher: { platform: config.dispatcher as Agent } };
  const first = buildToolkit(parted, {});
  expect(await chat(first)).toBe(200);
  const second = buildToolkit({ ...parted, keepAliveMs: 1_000 }, {}, first);
  onTestFinished(() => second.close({ graceMs: 0 }));
  expect(await chat(second)).toBe(200);
  expect(await agent.connections()).toBe(1);
});

it('a toolkit with shared connections takes its own dispatcher, and ends its own calls only', async () => {
  const { agent, config } = await world();
  const shared = createShared();
  const [one, other] = [buildToolkit(config, { shared }), buildToolkit(config, { shared })];
  agent.willWait();
  const [ended, kept] = [chat(one), chat(other)];
  const exchanges = [await agent.next(), await agent.next()];
  await one.close({ graceMs: 0 });
  expect(await ended).toBe(502);
  for (const exchange of exchanges) exchange.json(200, { jsonrpc: '2.0', id: 1, result: {} });
  expect(await kept).toBe(200);
  await other.close({ graceMs: 0 });
  await shared.close();
});
