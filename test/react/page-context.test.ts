import { beforeEach, describe, expect, it, vi } from 'vitest';

import { ChatSession } from '../../react/src/chat/chat-session.js';
import type { ChatError } from '../../react/src/chat-error.js';

const NEW = { supportedInterfaces: [{ protocolVersion: '1.0' }] };
const OLD = { protocolVersion: '0.3.0' };

beforeEach(() => {
  vi.stubGlobal('document', { baseURI: 'https://site.example/' });
  vi.stubEnv('NODE_ENV', 'production');
  return () => {
    vi.unstubAllGlobals();
    vi.unstubAllEnvs();
  };
});

/** Sends "Hello" from a page that says this about itself. */
async function said(card: object, context?: () => unknown) {
  const errors: ChatError[] = [];
  let sent: Record<string, never> = {};
  const session = new ChatSession({
    a2aEndpoint: 'https://site.example/api/a2a',
    configEndpoint: 'https://site.example/api/a2a/config',
    fetch: (url, init) => {
      if (String(url).endsWith('/config')) return Promise.resolve(Response.json({ agentCard: card }));
      sent = (JSON.parse(String(init?.body)) as { params: Record<string, never> }).params;
      return Promise.resolve(
        Response.json({ jsonrpc: '2.0', id: 1, result: { kind: 'message', parts: [{ text: 'Hi' }] } }),
      );
    },
    taskTimeoutMs: () => 600_000,
    onError: (error) => void errors.push(error),
    onSignIn: () => undefined,
    ...(context && { context }),
  });
  await session.send('Hello');
  return { message: sent['message']?.['metadata'], params: sent['metadata'], errors };
}

describe('the page context', () => {
  it.each([
    ['1.0', NEW],
    ['0.3', OLD],
  ])('reaches the agent in message and params of A2A %s', async (_version, card) => {
    const page = { url: '/cart', selection: 'naïve 🙂' };
    const metadata = { pageContext: page };
    expect(await said(card, () => page)).toEqual({ message: metadata, params: metadata, errors: [] });
  });

  it('is that of the moment the message was sent', async () => {
    const page = { url: '/cart' };
    const saying = said(NEW, () => page);
    page.url = '/checkout';
    expect((await saying).message).toEqual({ pageContext: { url: '/cart' } });
  });

  it.each([
    ['nothing', undefined],
    ['a page that has nothing to say', () => undefined],
  ])('is no member of the metadata for %s', async (_what, context) => {
    expect(await said(NEW, context)).toEqual({ message: undefined, params: undefined, errors: [] });
  });

  it.each([
    ['fits in 16 KB', 16_382, 0],
    ['is longer', 16_383, 1],
  ])('reaches the agent only within 16 KB, and an error is reported otherwise: %s', async (_what, length, errors) => {
    const seen = await said(NEW, () => 'a'.repeat(length));
    expect([seen.errors.length, seen.message === undefined]).toEqual([errors, errors === 1]);
  });

  it('is left out when the page fails, and the message is sent', async () => {
    const seen = await said(NEW, () => {
      throw new Error('no selection');
    });
    expect([seen.message, seen.errors]).toEqual([undefined, [expect.objectContaining({ code: 'page_failed' })]]);
  });
});
