import { beforeEach, describe, expect, it, vi } from 'vitest';

import type { ChatSession } from '../../react/src/chat/chat-session.js';
import type { StoredMessage } from '../../react/src/chat/message-parts.js';
import { keepConversation } from '../../react/src/chat/kept-conversation.js';
import { last, openPage, result, Site, task, until } from './chat-site.js';

const NAME = 'agent-bff:/api/a2a';

/** A tab's storage, with space for so many characters. */
class TabStorage {
  readonly #values = new Map<string, string>();
  readonly #space: number;

  constructor(space = Infinity) {
    this.#space = space;
  }

  getItem(name: string): string | null {
    return this.#values.get(name) ?? null;
  }

  setItem(name: string, value: string): void {
    if (value.length > this.#space) throw new DOMException('The quota has been exceeded.', 'QuotaExceededError');
    this.#values.set(name, value);
  }

  removeItem(name: string): void {
    this.#values.delete(name);
  }
}

const openTab = (space?: number): void => void vi.stubGlobal('sessionStorage', new TabStorage(space));

/** A chat as a component shows it; `leave` takes it off the page. */
function mounted(site: Site): { readonly session: ChatSession; readonly leave: () => void } {
  const session = site.session();
  const stop = keepConversation(session, NAME);
  session.enter();
  return { session, leave: () => (stop(), session.leave()) };
}

beforeEach(openPage);

describe('a chat that is left before the agent has named its task', () => {
  it('shows the question again, and "Retry" sends it under the same id', async () => {
    openTab();
    const site = new Site().on('SendStreamingMessage', () => new Response(new ReadableStream()));
    const first = mounted(site);
    void first.session.send('Hello');
    await until(() => expect(site.calls).toEqual(['SendStreamingMessage']));
    first.leave();

    const { session } = mounted(site);
    expect(session.getState()).toMatchObject({
      messages: [{ role: 'user', text: 'Hello' }],
      error: { code: 'connection_lost' },
      canRetry: true,
      phase: 'idle',
    });
    site.on('SendStreamingMessage', site.openStream);
    const retried = session.retry();
    await site.end({ task: task('COMPLETED', 'Good day') });
    await retried;
    expect(session.getState()).toMatchObject({ error: undefined, canRetry: false });
    expect(last(session)).toMatchObject({ text: 'Good day', state: 'complete' });
    expect(new Set(site.messageIds).size).toBe(1);
  });

  it('can be read on by the next chat once the agent has named it', async () => {
    openTab();
    const site = new Site().on('SubscribeToTask', () => new Response(new ReadableStream()));
    site.on('SendStreamingMessage', site.openStream);
    const first = mounted(site);
    void first.session.send('Hello');
    await until(() => expect(site.calls).toEqual(['SendStreamingMessage']));
    first.leave();
    await site.write({ task: task('WORKING', 'Half an') });
    await until(() => expect(site.signal?.aborted).toBe(true));

    const { session } = mounted(site);
    expect(last(session)).toMatchObject({ role: 'agent', text: 'Half an', state: 'working' });
    expect(session.getState().error).toBeUndefined();
    await until(() => expect(site.calls).toEqual(['SendStreamingMessage', 'SubscribeToTask']));
  });

  it('leaves what another chat has stored meanwhile', async () => {
    openTab();
    const site = new Site();
    site.on('SendStreamingMessage', site.openStream);
    const first = mounted(site);
    void first.session.send('Hello');
    await until(() => expect(site.calls).toHaveLength(1));
    first.leave();
    const second = mounted(site);
    second.session.open('c2', [{ id: 'u', role: 'user', text: 'Something else' }]);
    second.leave();
    await site.write({ task: task('WORKING', 'Half an') });
    await until(() => expect(site.signal?.aborted).toBe(true));

    expect(mounted(site).session.getState().messages).toMatchObject([{ text: 'Something else' }]);
  });

  it('does not offer to send a question again without its file', async () => {
    openTab();
    const site = new Site().on('SendStreamingMessage', () => new Response(new ReadableStream()));
    const first = mounted(site);
    void first.session.send({ text: 'Look', file: new File(['a'], 'a.txt') });
    await until(() => expect(site.calls).toHaveLength(1));
    first.leave();

    const { session } = mounted(site);
    expect(session.getState()).toMatchObject({ error: { code: 'connection_lost' }, canRetry: false });
    expect(last(session)).toMatchObject({ text: 'Look', fileName: 'a.txt' });
  });
});

it.each(['getItem', 'setItem', 'removeItem'])('a chat works in a browser whose storage forbids %s', async (method) => {
  const forbidden = (): never => {
    throw new DOMException('The operation is insecure.', 'SecurityError');
  };
  vi.stubGlobal('sessionStorage', Object.assign(new TabStorage(0), { [method]: forbidden }));
  const site = new Site().on('SendStreamingMessage', result({ task: task('COMPLETED', '42') }));
  const { session, leave } = mounted(site);
  await session.send('Hello');
  leave();
  expect(last(session)).toMatchObject({ text: '42' });
  expect(mounted(site).session.getState().messages).toEqual([]);
});

describe('a storage that is full', () => {
  const words = (count: number, length: number): StoredMessage[] =>
    Array.from({ length: count }, (_, index) => ({
      id: `m${index}`,
      role: 'user',
      text: `${index} `.padEnd(length, '.'),
    }));
  const restored = (messages: readonly StoredMessage[]): readonly StoredMessage[] => {
    const { session, leave } = mounted(new Site());
    session.open('c1', messages);
    leave();
    return mounted(new Site()).session.getState().messages;
  };

  it('keeps the names of files without their bytes', () => {
    openTab(1000);
    const file = {
      id: 'f',
      type: 'file',
      name: 'a.pdf',
      mediaType: 'application/pdf',
      bytes: 'A'.repeat(2000),
    } as const;
    const answer: StoredMessage = { id: 'a', role: 'agent', text: '`a.pdf`', state: 'complete', parts: [file] };
    expect(restored([answer])).toEqual([{ ...answer, parts: [{ ...file, bytes: undefined }] }]);
  });

  it('keeps the newest messages, and drops the oldest', () => {
    openTab(1000);
    const messages = words(40, 100);
    const kept = restored(messages);
    expect(kept.length).toBeGreaterThanOrEqual(4);
    expect(kept).toEqual(messages.slice(-kept.length));
  });

  it('keeps no earlier state in place of a message that is too long', () => {
    openTab(1000);
    expect(restored(words(2, 100))).toHaveLength(2);
    expect(restored(words(1, 2000))).toEqual([]);
  });
});
