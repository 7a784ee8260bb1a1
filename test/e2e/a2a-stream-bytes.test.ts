import { setImmediate as nextTurn } from 'node:timers/promises';
import { once } from 'node:events';
import { createParser, type EventSourceMessage } from 'eventsource-parser';
import express from 'express';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { expressSite } from '../site/frameworks/express.js';
import { startWorld, type World } from '../site/world.js';
import { piecesOf, withLongEvent, type WrittenStream, writtenStreams } from '../support/event-bytes.js';
import type { Exchange } from '../support/recording-upstream.js';

const STREAMS = 200;
/** Of these, every fiftieth has an event of 5 MB. */
const LONG_EVERY = 50;
/** Much work for one test, on a machine that may have more to do. */
const PATIENCE_MS = 60_000;
const KEEP_ALIVE = ': keep-alive\n\n';

const site = expressSite('a site', express);

function generated(count: number, seed: number): WrittenStream[] {
  const streams = fc.sample(writtenStreams(), { numRuns: count, seed });
  return streams.map((stream, index) => (index % LONG_EVERY === 0 ? withLongEvent(stream) : stream));
}

/** Writes a stream piece by piece, each in a turn of its own. */
async function write(exchange: Exchange, stream: WrittenStream): Promise<void> {
  const { response } = exchange.eventStream();
  for (const piece of piecesOf(stream)) {
    if (!response.write(piece)) await once(response, 'drain');
    await nextTurn();
  }
  response.end();
}

/** Lets the agent answer the request with the id `n` by the n-th stream, and gives what the visitors received. */
async function received(world: World, streams: readonly WrittenStream[]): Promise<Buffer[]> {
  world.upstream.willAnswer((exchange) => {
    const { id } = JSON.parse(exchange.request.body.toString()) as { id: number };
    void write(exchange, streams[id] as WrittenStream);
  });
  const visits = streams.map(async (_stream, id) => {
    const reply = await world.chat({ body: JSON.stringify({ jsonrpc: '2.0', id, method: 'message/stream' }) });
    const { bytes, clean } = await reply.ending();
    expect([reply.status, clean]).toEqual([200, true]);
    return bytes;
  });
  return Promise.all(visits);
}

function events(bytes: Buffer): EventSourceMessage[] {
  const found: EventSourceMessage[] = [];
  // Behind a CR at the very end this reader waits for the LF that may follow.
  createParser({ onEvent: (event) => found.push(event) }).feed(`${bytes.toString()}\n`);
  return found;
}

describe('many visitors who watch at the same time', { timeout: PATIENCE_MS }, () => {
  it('each receive the bytes of their own stream, wherever the network cut them', async () => {
    const seed = Date.now();
    const streams = generated(STREAMS, seed);
    const all = await received(await startWorld(site), streams);
    const wrong = all.flatMap((bytes, index) => (bytes.equals(streams[index]?.bytes as Buffer) ? [] : [index]));
    expect(wrong, `streams with other bytes, seed ${String(seed)}`).toEqual([]);
    expect(new Set(streams.map(({ bytes }) => bytes.toString('base64', 0, 400))).size).toBeGreaterThan(STREAMS / 2);
    expect(all.filter(({ length }) => length > 5_000_000)).toHaveLength(STREAMS / LONG_EVERY);
  });

  it('read the same events when comments fill every silence of a millisecond', async () => {
    const seed = Date.now();
    const streams = generated(40, seed).slice(1);
    const all = await received(await startWorld(site, { keepAliveMs: 1 }), streams);
    const texts = all.map((bytes) => bytes.toString());
    expect(texts.filter((text) => text.includes(KEEP_ALIVE)).length, `seed ${String(seed)}`).toBeGreaterThan(0);
    texts.forEach((text, index) => {
      const { bytes } = streams[index] as WrittenStream;
      expect(
        text.replaceAll(KEEP_ALIVE, '') === bytes.toString(),
        `stream ${String(index)}, seed ${String(seed)}`,
      ).toBe(true);
      expect(events(Buffer.from(text)), `stream ${String(index)}, seed ${String(seed)}`).toEqual(events(bytes));
    });
  });
});
