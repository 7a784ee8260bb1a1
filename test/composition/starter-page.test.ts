import { pathToFileURL } from 'node:url';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { type Answer, RecordingUpstream } from '../support/recording-upstream.js';

interface Piece {
  readonly text: string;
  readonly contextId?: string;
  readonly replaces: boolean;
}

const { ask } = (await import(pathToFileURL('starters/server/public/a2a.js').href)) as {
  ask: (route: string, text: string, contextId?: string) => AsyncIterable<Piece>;
};

const OLDER = { name: 'Agent', protocolVersion: '0.3.0' };
const NEWER = { name: 'Agent', supportedInterfaces: [{ protocolVersion: '1.0' }] };

/** The text the starters' page shows for an agent with this card and this response. */
async function pieces(card: object, answer: Answer) {
  const site = await RecordingUpstream.start();
  onTestFinished(() => site.close());
  site.willAnswer((exchange) => {
    if (exchange.request.method === 'POST') answer(exchange);
    else exchange.json(200, { agentCard: card });
  });
  const read: Piece[] = [];
  for await (const piece of ask(`${site.origin}/api/a2a`, 'Hello', 'conversation-1')) read.push(piece);
  const sent = JSON.parse(site.requests.at(-1)?.body.toString() ?? '') as { method: string; params: object };
  return { text: read.map(({ text }) => text).join(''), read, sent };
}

const piece = (text: string, append: boolean) => ({ artifact: { parts: [{ text }] }, append, contextId: 'c' });
const events = (results: readonly object[], end: string) =>
  results.map((result) => `data: ${JSON.stringify({ jsonrpc: '2.0', id: 1, result })}${end}${end}`).join('');

describe("the starters' page", () => {
  it.each([
    ['lines that end in LF', '\n'],
    ['lines that end in CRLF, as servers in Python send them', '\r\n'],
  ])('shows the answer of a v0.3 agent with %s', async (_title, end) => {
    const results = [{ kind: 'task', id: 't' }, piece('Hel', false), piece('lo', true)];
    const { text, sent, read } = await pieces(OLDER, (exchange) => {
      exchange
        .eventStream()
        .write(`: still there${end}${end}${events(results, end)}`)
        .end();
    });
    expect(text).toBe('Hello');
    expect(read.map(({ replaces }) => replaces)).toEqual([false, true, false]);
    expect(sent).toMatchObject({ method: 'message/stream', params: { message: { contextId: 'conversation-1' } } });
  });

  it('shows the answer of a v1.0 agent', async () => {
    const results = [{ task: { id: 't' } }, { artifactUpdate: piece('Hello', false) }];
    const { text, sent } = await pieces(NEWER, (exchange) => {
      exchange.eventStream().write(events(results, '\n')).end();
    });
    expect(text).toBe('Hello');
    expect(sent).toMatchObject({ method: 'SendStreamingMessage', params: { message: { role: 'ROLE_USER' } } });
  });

  it('shows the answer of an agent that does not stream', async () => {
    const message = { kind: 'message', parts: [{ kind: 'text', text: 'Hello' }] };
    const { text } = await pieces(OLDER, (exchange) => exchange.json(200, { jsonrpc: '2.0', id: 1, result: message }));
    expect(text).toBe('Hello');
  });

  it('shows visitors a sentence in place of an error message of the site, which goes to the console', async () => {
    const error = { code: -32_603, message: 'Check "a2aUrl" in configureServer.' };
    const asking = pieces(OLDER, (exchange) => exchange.json(502, { jsonrpc: '2.0', id: 1, error }));
    const warn = vi.spyOn(console, 'warn').mockReturnValue();
    await expect(asking).rejects.toThrow(/^This is not available at the moment\. Please try again later\.$/);
    expect(warn).toHaveBeenCalledExactlyOnceWith('Check "a2aUrl" in configureServer.');
  });
});
