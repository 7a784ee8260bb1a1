import { beforeEach, describe, expect, it, vi } from 'vitest';

import { AgentClient } from '../../react/src/chat/agent-client.js';

/** The locks of one browser, as far as the chat uses them (Web Locks API). */
class BrowserLocks {
  #last: Promise<unknown> = Promise.resolve();

  async request<T>(_name: string, { signal }: { signal: AbortSignal }, work: () => Promise<T>): Promise<T> {
    const before = this.#last;
    let release: (() => void) | undefined;
    this.#last = new Promise<void>((resolve) => (release = resolve));
    try {
      await Promise.race([before, new Promise((_, reject) => signal.addEventListener('abort', reject))]);
      return await work();
    } finally {
      void before.then(release);
    }
  }
}

/** The site that two tabs have open; it responds when the test calls for it. */
class Site {
  readonly asked: string[] = [];
  readonly answers: ((response: Response) => void)[] = [];
  readonly failures: ((error: Error) => void)[] = [];

  /** Sends a message from a tab; resolves with the words of the answer, or of the error. */
  async tab(name: string, contextId = ''): Promise<string> {
    const ask: typeof fetch = () => {
      this.asked.push(name);
      return new Promise((resolve, reject) => {
        this.answers.push(resolve);
        this.failures.push(reject);
      });
    };
    const client = new AgentClient('https://site.example/api/a2a', ask, { isOld: false, streams: false, tenant: '' });
    const request = { id: 'm', contextId, taskId: '', text: 'Hello', file: undefined };
    try {
      for await (const event of client.send(request, new AbortController().signal)) return event.kind;
      return 'nothing';
    } catch (error) {
      return (error as Error).message;
    }
  }

  answer(index: number): void {
    const result = { message: { messageId: 'a', role: 'ROLE_AGENT', parts: [{ text: 'Hi' }] } };
    this.answers[index]?.(Response.json({ jsonrpc: '2.0', id: 1, result }));
  }
}

describe('the first messages of two tabs', () => {
  let site: Site;
  beforeEach(() => {
    vi.useFakeTimers();
    site = new Site();
    return () => {
      vi.useRealTimers();
      vi.unstubAllGlobals();
    };
  });

  it('are sent one after the other, so that the second has the cookie of the first', async () => {
    vi.stubGlobal('navigator', { locks: new BrowserLocks() });
    const answers = [site.tab('one'), site.tab('two')];
    await vi.advanceTimersByTimeAsync(1_000);
    expect(site.asked).toEqual(['one']);
    site.answer(0);
    await vi.advanceTimersByTimeAsync(0);
    expect(site.asked).toEqual(['one', 'two']);
    site.answer(1);
    expect(await Promise.all(answers)).toEqual(['message', 'message']);
  });

  it('wait no longer than two seconds for each other', async () => {
    vi.stubGlobal('navigator', { locks: new BrowserLocks() });
    void site.tab('one');
    void site.tab('two');
    await vi.advanceTimersByTimeAsync(2_000);
    expect(site.asked).toEqual(['one', 'two']);
  });

  it('are sent even if the first one fails', async () => {
    vi.stubGlobal('navigator', { locks: new BrowserLocks() });
    const first = site.tab('one');
    const second = site.tab('two');
    await vi.advanceTimersByTimeAsync(0);
    site.failures[0]?.(new Error('gone'));
    expect(await first).toBe('gone');
    site.answer(1);
    expect([await second, site.asked]).toEqual(['message', ['one', 'two']]);
  });

  it('do not hold up a conversation that has begun', async () => {
    vi.stubGlobal('navigator', { locks: new BrowserLocks() });
    void site.tab('one');
    void site.tab('two', 'c1');
    await vi.advanceTimersByTimeAsync(0);
    expect([...site.asked].sort()).toEqual(['one', 'two']);
  });

  it('are sent at once where the browser has no locks', async () => {
    vi.stubGlobal('navigator', {});
    void site.tab('one');
    void site.tab('two');
    await vi.advanceTimersByTimeAsync(0);
    expect(site.asked).toEqual(['one', 'two']);
  });
});
