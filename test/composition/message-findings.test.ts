import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import type { HttpResponse } from '../../src/ports/http.js';
import {
  ACCEPTED,
  BOTH,
  type Call,
  CARD,
  CARD_OK,
  CHECK,
  clock,
  EVENT,
  examined,
  FAILED_NO_CARD,
  json,
  LOOK,
  NO_CARD,
  NOT_FOUND,
  page,
  type Reply,
  rpcError,
  SKIPPED,
  stopClock,
  streaming,
  UNTRIED,
  wantsKey,
  type World,
} from './examined-agent.js';

beforeEach(stopClock);

describe('the doctor sends a message', () => {
  const BETWEEN =
    'Check the agent and the proxies in front of it, which must neither buffer nor cut streams, or correct "a2aUrl" in configureServer.';
  const isMessage = ({ method }: Call): boolean => !['GetTask', 'tasks/get'].includes(method);
  const sending = (answer: Reply, world: World = {}) =>
    examined({ message: 'Hi', reply: (call) => (isMessage(call) ? answer(call) : wantsKey(call)), ...world });

  it.each<[string, () => HttpResponse, string]>([
    ['one event', () => streaming([400, EVENT]), 'ok: first event after 400 ms, 1 event, largest gap 0 ms'],
    [
      'events in pieces',
      () => streaming([400, 'da'], [450, 'ta: {}\n'], [500, '\n'], [600, `: wait\n\n${EVENT}`], [630, EVENT]),
      'ok: first event after 500 ms, 3 events, largest gap 100 ms; they arrived one by one',
    ],
    [
      'events all at once',
      () => streaming([300, EVENT], [320, EVENT]),
      `warning: first event after 300 ms, 2 events, largest gap 20 ms; all at once: a proxy on the way buffers them, or the agent does | ${BETWEEN}`,
    ],
    [
      'events soon',
      () => streaming([299, EVENT], [319, EVENT]),
      'ok: first event after 299 ms, 2 events, largest gap 20 ms; too fast to detect buffering',
    ],
    ['only comments', () => streaming([300, ': wait\n\n']), `failed: the stream ended without an event | ${LOOK}`],
    ['nothing', () => streaming(), `failed: the stream ended without an event | ${LOOK}`],
    [
      'an error in a stream',
      () => streaming([1, 'data: {"jsonrpc":"2.0","error":{"code":-32603,"message":"no model"}}\n\n']),
      `failed: the stream has an error, JSON-RPC error -32603: no model | ${LOOK}`,
    ],
    [
      'an error with status 500',
      () => rpcError(-32_603, 500),
      `failed: the agent responded with status 500 instead of a stream, JSON-RPC error -32603: no: [redacted] | ${LOOK}`,
    ],
    [
      'a refusal',
      () => rpcError(-32_000, 403),
      expect.stringMatching(/^failed: The platform does not allow the service credential.*"serviceApiKey"/) as string,
    ],
    ['something else', () => json({ error: 'no' }, 200), expect.stringContaining(CHECK) as string],
    [
      'a stream that breaks',
      () => streaming([300, EVENT], [310, 'break']),
      `failed: the stream broke after 1 event | ${BETWEEN}`,
    ],
    [
      'a stream that breaks inside an event',
      () => streaming([300, EVENT + EVENT], [310, 'data:'], [320, 'break']),
      `failed: the stream broke after 2 events | ${BETWEEN}`,
    ],
    [
      'a stream that breaks before its first event',
      () => streaming([300, 'break']),
      `failed: the stream broke after 0 events | ${BETWEEN}`,
    ],
    [
      'an error',
      () => rpcError(-32_601),
      `failed: the agent responded with status 200 instead of a stream, JSON-RPC error -32601: no: [redacted] | ${LOOK}`,
    ],
    [
      'an error whose code is no number',
      () => json({ jsonrpc: '2.0', id: 1, error: { code: 'odd' } }),
      `failed: the agent responded with status 200 instead of a stream | ${LOOK}`,
    ],
    [
      'a task',
      () => json({ jsonrpc: '2.0', id: 1, result: {} }),
      `failed: the agent responded with status 200 instead of a stream | ${LOOK}`,
    ],
    [
      'a page',
      () => page(502),
      'failed: The agent reported an internal error. (status 502 from the agent, text/html: <h1>Shop) | If this lasts, ask the operator of the server in "a2aUrl" in configureServer.',
    ],
  ])('whose response is %s', async (_what, answer, line) => {
    const { lines } = await sending(answer);
    const [card, tried, streamed = ''] = lines;
    expect([card, tried, streamed.replace(' streaming:', ':')]).toEqual([CARD_OK, ACCEPTED, line]);
  });

  it.each([
    [[EVENT], 'ok streaming: first event after 400 ms, 1 event, largest gap 0 ms; still running after 60000 ms'],
    [[], `warning streaming: no event within 60000 ms | ${BETWEEN}`],
  ])('and stops reading after a minute: %j', async (pieces, line) => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    let hasBegun = (): void => undefined;
    const begun = new Promise<void>((resolve) => (hasBegun = resolve));
    const endless = async function* ({ signal }: Call): AsyncGenerator<Uint8Array> {
      clock.now = 400;
      for (const piece of pieces) yield new TextEncoder().encode(piece);
      hasBegun();
      await new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('left'))));
    };
    const sent = sending((call) => ({ ...streaming(), body: endless(call) }));
    await begun;
    await vi.advanceTimersByTimeAsync(60_000);
    expect((await sent).lines.at(-1)).toBe(line);
  });

  it.each<[string, object | undefined, string, object]>([
    ['0.3', CARD, 'message/stream', { kind: 'message', role: 'user', parts: [{ kind: 'text', text: 'Hi' }] }],
    [
      '1.0',
      { ...CARD, supportedInterfaces: BOTH },
      'SendStreamingMessage',
      { role: 'ROLE_USER', parts: [{ text: 'Hi' }] },
    ],
  ])('of A2A %s', async (version, card, method, message) => {
    const { calls, begun } = await sending(() => streaming([1, EVENT]), { card });
    const sent = { method, isKnown: true, accept: 'text/event-stream', version: version === '1.0' ? '1.0' : undefined };
    expect(calls.slice(2)).toEqual([expect.objectContaining(sent)]);
    expect(calls[2]?.params.message).toEqual({ ...message, messageId: expect.any(String) as string });
    expect(begun).toEqual(['agent card', 'agent', 'streaming']);
  });

  it.each<[string, Reply, readonly string[], readonly unknown[]]>([
    [
      'of version 1',
      () => streaming([1, EVENT]),
      ['SendStreamingMessage'],
      [NO_CARD, 'ok agent: answers a message', 'ok streaming: first event after 1 ms, 1 event, largest gap 0 ms'],
    ],
    [
      'of version 0.3',
      ({ method }) => (method === 'message/stream' ? streaming([1, EVENT]) : rpcError(-32_601)),
      ['SendStreamingMessage', 'message/stream'],
      [NO_CARD, 'ok agent: answers a message', 'ok streaming: first event after 1 ms, 1 event, largest gap 0 ms'],
    ],
    [
      'of neither, and shows the first error',
      ({ method }) => rpcError(method === 'message/stream' ? -2 : -1),
      ['SendStreamingMessage', 'message/stream'],
      [
        FAILED_NO_CARD,
        UNTRIED,
        `failed streaming: the agent responded with status 200 instead of a stream, JSON-RPC error -1: no: [redacted] | ${LOOK}`,
      ],
    ],
  ])('to an agent without a card %s', async (_version, answer, methods, lines) => {
    const reply: Reply = (call) => (isMessage(call) ? answer(call) : rpcError(-32_001));
    const { calls, lines: found } = await examined({ card: undefined, message: 'Hi', reply });
    expect(calls.filter(isMessage).map(({ method }) => method)).toEqual(methods);
    expect(found).toEqual(lines);
  });

  it.each<[string, World, readonly string[], readonly string[]]>([
    [
      'whose card does not announce streams',
      { card: { ...CARD, capabilities: {} } },
      [
        CARD_OK.replace('streams', 'does not stream'),
        ACCEPTED,
        'skipped streaming: the agent card does not announce it',
      ],
      ['agent card', 'agent', 'streaming'],
    ],
    [
      'that is not there',
      { reply: () => page(404) },
      [CARD_OK, `${NOT_FOUND} | ${CHECK}`, `skipped streaming: ${SKIPPED}`],
      ['agent card', 'agent'],
    ],
  ])('not to an agent %s', async (_what, world, lines, checks) => {
    const { calls, lines: found, begun } = await examined({ message: 'Hi', ...world });
    expect(found).toEqual(lines);
    expect(begun).toEqual(checks);
    expect(calls.filter(isMessage)).toEqual([]);
  });
});
