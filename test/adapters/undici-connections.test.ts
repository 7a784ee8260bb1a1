import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { UndiciUpstream } from '../../src/adapters/undici/undici-upstream.js';
import type { UpstreamOutcome } from '../../src/ports/http.js';
import { textOf } from '../contracts/http-upstream.contract.js';
import { RecordingUpstream } from '../support/recording-upstream.js';

let agent: RecordingUpstream;
let upstream: UndiciUpstream;
beforeEach(async () => {
  agent = await RecordingUpstream.start();
  upstream = new UndiciUpstream({ connectMs: 1_000 });
});
afterEach(async () => {
  await upstream.close();
  await agent.close();
});

const send = (signal: AbortSignal = new AbortController().signal): Promise<UpstreamOutcome> =>
  upstream.send({
    method: 'POST',
    origin: agent.origin,
    path: '/',
    headers: { 'content-type': 'application/json' },
    body: '{"id":1}',
    signal,
    headersMs: 5_000,
    bodyIdleMs: 5_000,
  });

async function bodyOf(outcome: UpstreamOutcome): Promise<string> {
  if (outcome.kind === 'failure') throw new Error(outcome.detail);
  return textOf(outcome.response.body);
}

describe('connections to the platform', () => {
  it('are used again by requests that follow each other', async () => {
    for (let count = 0; count < 5; count += 1) await bodyOf(await send());
    expect(await agent.connections()).toBe(1);
  });

  it('are as many as requests at the same time, and then used again', async () => {
    await Promise.all(Array.from({ length: 8 }, async () => bodyOf(await send())));
    await Promise.all(Array.from({ length: 8 }, async () => bodyOf(await send())));
    expect(await agent.connections()).toBe(8);
  });

  it('of streams whose browsers left are gone, and none is opened in their place', async () => {
    agent.willWait();
    const browsers = Array.from({ length: 20 }, () => new AbortController());
    const answers = browsers.map(async ({ signal }) => {
      const outcome = send(signal);
      const exchange = await agent.next();
      exchange.eventStream();
      return { outcome: await outcome, exchange };
    });
    const open = await Promise.all(answers);
    for (const browser of browsers) browser.abort();
    await Promise.all(open.map(({ exchange }) => exchange.closed));
    // Whatever is opened instead is opened within the next turns.
    for (let turn = 0; turn < 20; turn += 1) await new Promise(setImmediate);
    expect(await agent.connections()).toBe(0);
  });

  it('that still carry an answer keep close waiting for it', async () => {
    agent.willWait();
    const outcome = send();
    const exchange = await agent.next();
    exchange.eventStream().write('data: one\n\n');
    const answer = await outcome;
    let closed = false;
    const closing = upstream.close().then(() => {
      closed = true;
    });
    await new Promise(setImmediate);
    expect(closed).toBe(false);
    exchange.end();
    expect(await bodyOf(answer)).toBe('data: one\n\n');
    await closing;
  });
});
