import { createToolkit, type Toolkit } from 'agent-bff';
import express from 'express';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type Platform, startPlatform } from '../../examples/platform/start-platform.js';
import type { Site } from '../site/framework.js';
import { expressSite } from '../site/frameworks/express.js';
import { type ChatClient, sdk03, sdk1, type Step } from '../support/a2a-chat-clients.js';
import { newServiceAccountKey } from '../support/service-account.js';

const GENERATIONS: readonly [string, (endpoint: string, platform: Platform) => Promise<ChatClient>][] = [
  ['@a2a-js/sdk 1.3.0', (endpoint) => sdk1(endpoint, '1.0')],
  ['@a2a-js/sdk 1.3.0 speaking version 0.3', (endpoint) => sdk1(endpoint, '0.3')],
  ['@a2a-js/sdk 0.3.14', (endpoint, platform) => sdk03(endpoint, platform.url)],
];

describe.each(GENERATIONS)('a visitor with the client of %s', (_name, connect) => {
  let platform: Platform;
  let toolkit: Toolkit;
  let site: Site;
  let client: ChatClient;

  const serve = (made: Toolkit): Promise<Site> =>
    expressSite('a site', express, { json: true }).start({ toolkit: made });
  const configured = (privateKeyPem: string): Toolkit =>
    createToolkit({
      a2aUrl: platform.a2aUrl,
      serviceApiUrl: platform.serviceApiUrl,
      serviceAuthStrategy: 'service_account',
      serviceAccount: { serviceAccountId: 'site-1', keyId: 'key-1', privateKeyPem },
    });

  beforeAll(async () => {
    platform = await startPlatform({ wordMs: 2, slowStepMs: 20 });
    const { privateKey, publicKey } = await newServiceAccountKey();
    platform.registerKey('key-1', publicKey, 'site-1');
    toolkit = configured(privateKey);
    site = await serve(toolkit);
    client = await connect(`${site.url}/api/a2a`, platform);
  });
  afterAll(async () => {
    await site?.close();
    await platform?.close();
    await toolkit?.close();
  });
  afterEach(async () => {
    await expect.poll(() => platform.openStreams).toBe(0);
  });

  it('asks and gets the whole answer', async () => {
    const answer = await client.send('Hello there');
    expect(answer.state).toBe('completed');
    expect(answer.text).toMatch(/^You said: “Hello there”\..* to your browser\.$/);
  });

  it('asks and watches the answer grow', async () => {
    const steps = await all(client.stream('Hello there'));
    expect(steps[0]?.state).toBe('working');
    expect(steps.filter(({ text }) => text !== '').length).toBeGreaterThan(20);
    expect(steps.map(({ text }) => text).join('')).toMatch(/^You said: “Hello there”\..* to your browser\.$/);
    expect(steps.at(-1)?.state).toBe('completed');
    expect(new Set(steps.map(({ taskId }) => taskId)).size).toBe(1);
  });

  it('looks at a task later', async () => {
    const { taskId, text } = await client.send('Remember me');
    expect(await client.get(taskId)).toEqual({ taskId, state: 'completed', text });
  });

  it('cancels a task, and the stream says so', async () => {
    const steps: Step[] = [];
    for await (const step of client.stream('slow')) {
      steps.push(step);
      if (steps.length === 3) expect((await client.cancel(step.taskId)).state).toBe('canceled');
    }
    expect(steps.at(-1)?.state).toBe('canceled');
  });

  it('loses the connection, subscribes again and sees the rest', async () => {
    const leaving = new AbortController();
    let taskId = '';
    await expect(
      (async () => {
        for await (const step of client.stream('slow', leaving.signal)) {
          taskId = step.taskId;
          if (step.text !== '') leaving.abort();
        }
      })(),
    ).rejects.toThrow(/abort/i);
    // Leaving ended the stream, not the task.
    expect((await client.get(taskId)).state).toBe('working');

    const steps: Step[] = [];
    for await (const step of client.resubscribe(taskId)) {
      steps.push(step);
      if (steps.length === 5) await client.cancel(taskId);
    }
    expect(steps.length).toBeGreaterThan(5);
    expect(steps.at(-1)?.state).toBe('canceled');
    expect(steps.every((step) => step.taskId === taskId)).toBe(true);
  });

  it('hears from the agent itself that a task is unknown', async () => {
    await expect(client.get('no-such-task')).rejects.toThrow(/not found/i);
  });

  it('reads the hint when the site’s credential is wrong', async () => {
    const stranger = configured((await newServiceAccountKey()).privateKey);
    const broken = await serve(stranger);
    const visitor = await connect(`${broken.url}/api/a2a`, platform);
    const hint = /Check the "serviceAccount" configuration block/;
    await expect(visitor.send('Hello')).rejects.toThrow(hint);
    await expect(all(visitor.stream('Hello'))).rejects.toThrow(hint);
    await broken.close();
    await stranger.close();
  });

  it('never shows the agent anything but the site’s own service account', () => {
    const chats = platform.requests.filter(({ path }) => path === '/a2a');
    // A refused token has no subject.
    expect(new Set(chats.map(({ subject }) => subject ?? 'refused'))).toEqual(new Set(['site-1', 'refused']));
    expect(chats.flatMap(({ headerNames }) => headerNames)).not.toContain('cookie');
  });
});

async function all<Value>(values: AsyncIterable<Value>): Promise<Value[]> {
  const list: Value[] = [];
  for await (const value of values) list.push(value);
  return list;
}
