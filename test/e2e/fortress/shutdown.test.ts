import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it } from 'vitest';
import { type Exchange, RecordingUpstream } from '../../support/recording-upstream.js';
import { type Reply, visit } from '../../support/visitor.js';

const PROCESS = fileURLToPath(new URL('shutdown-process.mjs', import.meta.url));
const STREAMS = 200;
/** Time for a busy machine to write to all browsers. */
const SLACK_MS = 10_000;

let agent: RecordingUpstream | undefined;
let child: ChildProcess | undefined;
afterEach(async () => {
  child?.kill('SIGKILL');
  await agent?.close();
});

async function startSite(graceMs: number): Promise<string> {
  agent = await RecordingUpstream.start();
  agent.willWait();
  child = fork(PROCESS, [`${agent.origin}/a2a`, String(graceMs)]);
  const [{ url }] = (await once(child, 'message')) as [{ url: string }];
  return url;
}

/** Opens streams with one complete event. Every other stream is in the middle of the next one. */
async function openStreams(url: string, count: number): Promise<{ exchanges: Exchange[]; replies: Reply[] }> {
  const exchanges: Exchange[] = [];
  const replies: Reply[] = [];
  // In tens: a listener's backlog is finite.
  while (replies.length < count) {
    const visits = Array.from({ length: 10 }, () => visit(url));
    for (let index = 0; index < 10; index += 1) {
      const exchange = (await agent?.next()) as Exchange;
      exchange.eventStream().write(exchanges.length % 2 === 0 ? 'data: one\n\n' : 'data: one\n\ndata: {"ha');
      exchanges.push(exchange);
    }
    replies.push(...(await Promise.all(visits)));
  }
  await Promise.all(replies.map((reply) => reply.until('data: one\n\n')));
  return { exchanges, replies };
}

/** Sends SIGTERM and returns the time until exit. Fails if the process had to be killed. */
async function terminated(): Promise<number> {
  const exit = once(child as ChildProcess, 'exit');
  const start = performance.now();
  child?.kill('SIGTERM');
  expect(await exit).toEqual([0, null]);
  return performance.now() - start;
}

describe('a site that receives SIGTERM', () => {
  it(
    `with ${String(STREAMS)} open streams exits when its grace period ends, and breaks streams that are inside an event`,
    { timeout: 60_000 },
    async () => {
      const url = await startSite(1_000);
      const { replies } = await openStreams(url, STREAMS);
      const endings = Promise.all(replies.map((reply) => reply.ending()));
      expect(await terminated()).toBeLessThan(1_000 + SLACK_MS);
      const seen = { told: 0, cut: 0 };
      for (const { clean, bytes } of await endings) {
        const text = bytes.toString();
        if (text.endsWith('data: {"ha')) {
          expect(clean).toBe(false);
          seen.cut += 1;
        } else {
          expect(text).toMatch(/^data: one\n\nevent: error\ndata: .*\n\n$/);
          seen.told += 1;
        }
      }
      expect(seen).toEqual({ told: STREAMS / 2, cut: STREAMS / 2 });
    },
  );

  it('waits for open streams, and exits when the last one ends', async () => {
    const url = await startSite(600_000);
    const { exchanges, replies } = await openStreams(url, 10);
    const ended = terminated();
    for (const [index, exchange] of exchanges.entries()) exchange.end(index % 2 === 0 ? '' : 'lf"}\n\n');
    for (const reply of replies) expect(await reply.ending()).toMatchObject({ clean: true });
    expect(await ended).toBeLessThan(SLACK_MS);
  });
});
