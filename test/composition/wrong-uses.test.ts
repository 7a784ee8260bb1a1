import { EventEmitter } from 'node:events';
import { createServer } from 'node:http';
import * as root from 'agent-bff';
import * as onExpress from 'agent-bff/express';
import { FakeUpstream, RecordingTelemetry } from 'agent-bff/testing';
import { createWebHandler } from 'agent-bff/web';
import express from 'express';
import { beforeEach, describe, expect, it } from 'vitest';

// Uses that a site in JavaScript can get wrong. Each is refused by a sentence that names what to change: where it is
// called, or in the log of the first request that runs the site's own function. The visitor never reads that sentence.

// JavaScript has no types.
/* oxlint-disable typescript/no-explicit-any typescript/no-unsafe-argument typescript/no-unsafe-member-access typescript/no-unsafe-call typescript/no-unsafe-return typescript/no-unsafe-assignment */
const { configureServer, createShared, createToolkit, getAuthHeaders, loggerTelemetry, openTelemetry } = root as any;
const { AgentBffError, rewriteAgentCard, SessionError } = root as any;
const { createA2ARouter, createServiceSurfaceRouter } = onExpress as any;

beforeEach(() => {
  delete (globalThis as any)[Symbol.for('agent-bff/state@1')];
});

const AGENT = { a2aUrl: 'https://agent.example/a2a', serviceAuthStrategy: 'none', conversations: 'open' };
/** A text of the site's own that a visitor must not read. */
const PRIVATE = 'tenant-7 at db.internal';
const nowInSeconds = (): number => Math.floor(Date.now() / 1000);

const provider = (issued: unknown): object => ({
  block: 'okta',
  identity: () => ({ principal: 'okta', proof: '' }),
  issue: () => Promise.resolve(issued),
});
const TOKEN = { value: 'token', expiresAt: Date.now() + 3_600_000 };
const FAILURE = { kind: 'failure', reason: 'refused', block: 'okta', fields: [], advice: 'Check okta.' };

/** Sends one message to a chat, and returns what the log and the visitor read. */
async function chatted(
  config: object,
  a2a: object = {},
  ports: object = {},
  contextId?: string,
): Promise<{ log: string; page: string }> {
  const telemetry = new RecordingTelemetry();
  const toolkit = createToolkit({ ...AGENT, ...config }, { telemetry, upstream: new FakeUpstream(), ...ports });
  const message = contextId && { messageId: 'm1', role: 'ROLE_USER', parts: [{ text: 'Hello' }], contextId };
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'SendMessage', params: { message } });
  const init = { method: 'POST', body, headers: { 'content-type': 'application/json' } };
  const handle = createWebHandler({ toolkit, a2a });
  const response: Response = await handle(new Request('https://site.example/api/a2a', init));
  const log = telemetry.events.map((event) => ('detail' in event ? event.detail : '')).join('\n');
  return { log, page: await response.text() };
}
const session = (auth: unknown, config: object = {}) => chatted(config, { auth });
const own = (issued: unknown) =>
  chatted({ serviceAuthStrategy: 'okta', identityProviders: { okta: provider(issued) } });
const exchanged = (outcome: unknown) => {
  const tokenExchange = {
    identity: () => ({ principal: 'x', proof: '' }),
    exchange: () => Promise.resolve(outcome),
  };
  return chatted({}, { auth: () => 'user-token', exchange: 'on_behalf_of' }, { tokenExchange });
};
/** Like a logger of pino or winston. */
const emittingLogger = () => Object.assign(new EventEmitter(), { info: () => undefined });
const called = (outcome: unknown) =>
  chatted({}, {}, { upstream: { send: () => Promise.resolve(outcome), close: () => Promise.resolve() } });
/** A message in a conversation that the site did not begin. */
const entered = (ownsContext: unknown) =>
  chatted({ conversations: 'visitor' }, { ownsContext }, {}, 'from-the-records');
const limited = (verdict: unknown) => chatted({ chatLimit: { admit: () => Promise.resolve(verdict) } });

/** Refused at the call: the use, and a part of the sentence. */
const REFUSED: readonly (readonly [what: string, use: () => unknown, sentence: string])[] = [
  ['a misspelt field', () => createToolkit({ a2aUlr: '' }), '"a2aUlr" in createToolkit. Did you mean "a2aUrl"?'],
  ['the same field', () => configureServer({ a2aUlr: '' }), '"a2aUlr" in configureServer. Did you mean "a2aUrl"?'],
  ['no configuration', () => createToolkit(), 'Pass an object to createToolkit.'],
  ['a foreign store', () => createToolkit({ cacheStore: 'x:y' }), '"cacheStore" of createToolkit'],
  ['the environment', () => createToolkit({ A2A_URL: 'x' }), 'Pass variables through configFromEnv(process.env).'],
  ['a provider named idp_a', () => createToolkit({}, { identityProviders: { idp_a: provider(0) } }), 'Rename "idp_a"'],
  [
    'a provider named service_account',
    () => configureServer({ identityProviders: { service_account: provider(0) } }),
    'Rename "service_account"',
  ],
  ['a provider named none', () => createToolkit({ identityProviders: { none: provider(0) } }), 'Rename "none"'],
  ['an object that is no toolkit', () => createA2ARouter(express, { toolkit: { authHeaders() {} } }), 'createToolkit'],
  [
    'a toolkit of another copy',
    () => createServiceSurfaceRouter(express, { toolkit: { ...createToolkit(AGENT), version: '0.0.9' } }),
    'of this version of agent-bff',
  ],
  ['a toolkit instead of options', () => createA2ARouter(express, createToolkit(AGENT)), 'as { toolkit }'],
  ['the function instead of a toolkit', () => createA2ARouter(express, { toolkit: configureServer }), 'createToolkit'],
  ['a strategy as text', () => configureServer(AGENT) && getAuthHeaders('static_token'), 'Set it to an object.'],
  ['a limit that was not made', () => createToolkit({ chatLimit: () => true }), 'Set it to an object with admit.'],
  ['a negative pause', () => createToolkit(AGENT).close({ graceMs: -1 }), '"graceMs" of toolkit.close'],
  ['a pause that is no number', () => createToolkit(AGENT).close({ graceMs: Number.NaN }), 'milliseconds from 0'],
  ['a pause alone', () => createToolkit(AGENT).close(5_000), 'Set it to an object.'],
  ['an application to shut down', () => createToolkit(AGENT).shutDown(express()), 'the result of app.listen()'],
  ['options to shut down', () => createToolkit(AGENT).shutDown({ graceMs: 5 }), 'the result of app.listen()'],
  [
    'a negative pause to shut down',
    () => createToolkit(AGENT).shutDown(createServer(), { graceMs: -1 }),
    'milliseconds from 0',
  ],
  [
    'an option that bounds nothing',
    () => createServiceSurfaceRouter(express, { cache: { maxEntries: 5 } }),
    'Unknown option "cache.maxEntries"',
  ],
  ['a logger as telemetry', () => createToolkit({ telemetry: emittingLogger() }), 'such as loggerTelemetry(logger)'],
  ['it among the ports', () => createToolkit({}, { telemetry: emittingLogger() }), 'such as loggerTelemetry(logger)'],
  ['a Map as store', () => createToolkit({ cacheStore: new Map() }), 'an address, a Keyv, or a CacheStore'],
  ['a Map that is shared', () => createShared({ cacheStore: new Map() }), 'an address, a Keyv, or a CacheStore'],
  ['no logger', () => loggerTelemetry(), 'an object with debug and info and warn and error'],
  ['a logger with one method', () => loggerTelemetry({ log() {} }), '"logger" of loggerTelemetry'],
  ['no OpenTelemetry', () => openTelemetry(), 'the module "@opentelemetry/api"'],
  ['its SDK', () => openTelemetry({ NodeSDK: class {} }), 'the module "@opentelemetry/api"'],
  ['the text of a card', () => rewriteAgentCard('{}', { url: 'https://site.example' }), '"card" of rewriteAgentCard'],
  [
    'a sign-out without the request',
    () => createToolkit(AGENT).endSession({ auth: () => 'token' }),
    '"request" of toolkit.endSession. Set it to the request of the framework.',
  ],
  ['an error with a text', () => new SessionError('session_required', 'Sign in.'), 'needs facts such as { detail:'],
  ['an error with a code alone', () => new AgentBffError('order_missing'), 'needs facts such as { detail:'],
];

/** Logged with the first message: the result of the site's function, and a part of the sentence. */
const LOGGED: readonly (readonly [
  what: string,
  use: () => Promise<{ log: string; page: string }>,
  sentence: string,
])[] = [
  [
    'the session of Auth.js',
    () => session(() => ({ user: { name: PRIVATE }, expires: '2026-01-01' })),
    'pass authJsSession(auth)',
  ],
  ['a Response', () => session(() => new Response(PRIVATE)), 'pass authJsSession(auth)'],
  ['a token without its kind', () => session(() => ({ accessToken: PRIVATE })), '"kind"'],
  ['an unknown kind of session', () => session(() => ({ kind: 'signed-out' })), '"kind"'],
  ['a number as token', () => session(() => 7), 'type "number"'],
  ['a session token without text', () => session(() => ({ kind: 'token' })), '"accessToken"'],
  ['no session at all', () => session({ getToken: () => Promise.resolve() }), '"kind"'],
  [
    'a session that ends in seconds',
    () => session(() => ({ kind: 'token', accessToken: 't', expiresAt: nowInSeconds() + 3_600 })),
    '"expiresAt" in seconds: return milliseconds',
  ],
  [
    'a session with "detail"',
    () => session(() => ({ kind: 'expired', detail: PRIVATE })),
    'Return it as "log" instead of "detail".',
  ],
  [
    'a token that ends in seconds',
    () => own({ kind: 'token', token: { ...TOKEN, expiresAt: nowInSeconds() + 3_600 } }),
    '"token.expiresAt" in seconds: return milliseconds',
  ],
  [
    'a token that ends at a Date',
    () => own({ kind: 'token', token: { ...TOKEN, expiresAt: new Date() } }),
    'expiresAt',
  ],
  ['a token that is only a text', () => own({ kind: 'token', token: 'token' }), '"token.value"'],
  ['a token without text', () => own({ kind: 'token', token: { ...TOKEN, value: undefined } }), '"token.value"'],
  ['the text of a token', () => own('token'), '"kind"'],
  ['an outcome without a kind', () => own({ token: TOKEN }), '"kind"'],
  ['a failure without a reason', () => own({ ...FAILURE, reason: undefined, log: '' }), '"reason"'],
  ['a failure without fields', () => own({ kind: 'failure', reason: 'refused', log: PRIVATE }), PRIVATE],
  ['a failure with "detail"', () => own({ ...FAILURE, detail: PRIVATE }), 'Return it as "log" instead of "detail".'],
  ['an exchange without a kind', () => exchanged({ value: 'x' }), '"kind"'],
  [
    'an exchange that ends in seconds',
    () => exchanged({ kind: 'token', token: { ...TOKEN, expiresAt: nowInSeconds() } }),
    '"token.expiresAt" in seconds: return milliseconds',
  ],
  [
    'an exchange that refuses with "detail"',
    () => exchanged({ kind: 'user-refused', reason: 'expired', detail: PRIVATE }),
    'Return it as "log" instead of "detail".',
  ],
  [
    'a call without a kind',
    () => called({ status: 200, body: PRIVATE }),
    '"upstream" failed: "send" returned no known',
  ],
  [
    'a call that returns a Response',
    () => called(new Response(PRIVATE)),
    '"upstream" failed: "send" returned no known',
  ],
  ['a call that returns nothing', () => called(undefined), '"upstream" failed: "send" returned no known'],
  [
    'the row of a conversation',
    () => entered(() => ({ owner: PRIVATE })),
    '"ownsContext" failed: it returned type "object"',
  ],
  ['a limit that returns true', () => limited(true), '"chatLimit" failed: it returned no verdict'],
  ['a limit with "detail"', () => limited({ kind: 'unknown', detail: PRIVATE }), 'instead of "detail".'],
];

describe('a wrong use in JavaScript', () => {
  it.each(REFUSED)('is refused where it is called: %s', async (_what, use, sentence) => {
    await expect((async () => use())()).rejects.toThrow(sentence);
  });

  it.each(LOGGED)('is named in the log, and not to the visitor: %s', async (_what, use, sentence) => {
    const { log, page } = await use();
    expect(log).toContain(sentence);
    expect(page).not.toContain(PRIVATE);
    expect(page).not.toContain('"log"');
  });
});
