import { describe, expect, it, onTestFinished, vi } from 'vitest';

import { AgentClient, readCard } from '../../react/src/chat/agent-client.js';
import { emptyAnswer } from '../../react/src/chat/answer.js';
import { AnswerReader } from '../../react/src/chat/answer-reader.js';
import { CARD_1, artifact, update } from './read-agent.js';

describe('an answer of 4,000 events in 16 seconds', () => {
  /** The moments at which the page reads events of the answer, in milliseconds. */
  async function momentsOf(visibilityState: string): Promise<ReadonlySet<number>> {
    vi.stubGlobal('document', { visibilityState });
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    onTestFinished(() => {
      vi.useRealTimers();
      vi.unstubAllGlobals();
    });
    const event = (result: unknown): Uint8Array =>
      new TextEncoder().encode(`data: ${JSON.stringify({ jsonrpc: '2.0', id: 1, result })}\n\n`);
    let sent = 0;
    const body = new ReadableStream<Uint8Array>({
      start: (stream) => {
        const write = (): void => {
          stream.enqueue(event(artifact('twenty characters ..', sent > 0)));
          sent += 1;
          if (sent < 4_000) setTimeout(write, 4);
          else stream.enqueue(event(update('COMPLETED')));
        };
        write();
      },
    });
    const ask = async (): Promise<Response> => new Response(body, { headers: { 'content-type': 'text/event-stream' } });
    const moments = new Set<number>();
    const listener = { onAnswer: () => moments.add(performance.now()), onReconnecting: () => undefined };
    const client = new AgentClient('https://site.example/api/a2a', ask, readCard(CARD_1));
    const reader = new AnswerReader(client, emptyAnswer('m1'), 60_000, listener, new AbortController().signal);
    const reading = reader.send({ id: 'm1', contextId: '', taskId: '', text: 'Go', file: undefined, page: undefined });
    await vi.advanceTimersByTimeAsync(20_000);
    await reading;
    return moments;
  }

  it('is read less often the longer it is, and its end within half a second', async () => {
    const moments = [...(await momentsOf('visible'))];
    const within = (from: number, to: number): number => moments.filter((ms) => ms >= from && ms < to).length;
    expect(within(0, 4_000)).toBeGreaterThan(1.5 * within(12_000, 16_000));
    expect(moments.at(-1)).toBeLessThan(16_500);
  });

  it('is read event by event while the page is hidden, whose timers are slow', async () => {
    expect((await momentsOf('hidden')).size).toBeGreaterThan(3_900);
  });
});
