import { inspect } from 'node:util';
import { createToolkit, fromFunction, type SessionTokenSource, type ToolkitPorts } from 'agent-bff';
import { FakeTokenExchange, FakeUpstream, RecordingTelemetry } from 'agent-bff/testing';
import { createWebHandler } from 'agent-bff/web';
import { describe, expect, it } from 'vitest';
import { errorOf } from '../../support/error-of.js';

const SESSION = 'q8Zt2VnL5yRw0KdPxJ3c';
const CSRF = 'm1Xb7GhT4sQe9UfCaN6o';
const BEARER = 'opaque-4Hj9Kd2Ls7Qw';
const TOKEN = 'issued-8Vb3Nm6Xc1Za';
const COOKIE = `connect.sid=s%3A${SESSION}.c2lnbmF0dXJlLW9mLWl0; csrf=${CSRF}`;
const FIELDS = { cookie: COOKIE, authorization: `Bearer ${BEARER}` };
const ANY = new RegExp([SESSION, CSRF, BEARER, TOKEN, 'c2lnbmF0dXJlLW9mLWl0'].join('|'));

/** A site whose chat is for signed-in users. */
function site(getSessionToken: SessionTokenSource, ports: ToolkitPorts = {}, onBehalfOf = {}) {
  const telemetry = new RecordingTelemetry();
  const upstream = new FakeUpstream();
  const config = { a2aUrl: 'https://agent.example/a2a', serviceApiUrl: 'https://platform.example/api' };
  const toolkit = createToolkit({ ...config, ...onBehalfOf }, { telemetry, upstream, ...ports });
  const handle = createWebHandler({ toolkit, a2a: { getSessionToken } });
  const chat = async (headers: Record<string, string> = FIELDS): Promise<Response> =>
    handle(
      new Request('https://site.example/api/a2a', {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json' },
        body: '{"jsonrpc":"2.0","id":1,"method":"message/send","params":{"message":{}}}',
      }),
    );
  return { toolkit, telemetry, upstream, chat };
}

const failing = (quote: string): SessionTokenSource =>
  fromFunction(() => Promise.reject(new Error(`cannot open "${quote}" of this visitor`)), {
    sessionCookies: ['connect.sid'],
  });

describe("a visitor's cookies and credentials are in no log and no response", () => {
  it.each([
    ['the cookie field', COOKIE],
    ['a cookie, decoded', `s:${SESSION}.c2lnbmF0dXJlLW9mLWl0`],
    ['the id in it', SESSION],
    ['another cookie', CSRF],
    ['the bearer token', BEARER],
    ['all of them, as JSON in an address', encodeURIComponent(JSON.stringify(FIELDS))],
  ])('when the session library quotes %s', async (_what, quote) => {
    const { chat, telemetry } = site(failing(quote));
    const answer = await chat();
    const [error] = telemetry.of('error');
    expect(answer.status).toBe(401);
    // The rest of the text still names the failure.
    expect(error?.detail).toMatch(/^Error: cannot open ".*\[redacted\].*" of this visitor$/);
    expect(JSON.stringify(telemetry.events) + (await answer.text()) + inspect([...answer.headers])).not.toMatch(ANY);
  });

  it('when the session has expired', async () => {
    const { chat, telemetry } = site(fromFunction(() => ({ kind: 'expired', log: `${SESSION} ended` })));
    const text = await (await chat()).text();
    expect(telemetry.of('error')).toMatchObject([{ code: 'session_expired', detail: '[redacted] ended' }]);
    expect(text).not.toMatch(ANY);
  });

  it('when another request waits for the same session', async () => {
    const { chat, telemetry } = site(failing(CSRF));
    const other = { ...FIELDS, cookie: COOKIE.replace(CSRF, 'another-visit-of-hers') };
    await Promise.all([chat(), chat(other)]);
    expect(telemetry.of('error')).toHaveLength(2);
    expect(JSON.stringify(telemetry.events)).not.toMatch(ANY);
  });

  it('when a function for headers throws them', async () => {
    const { toolkit } = site(failing(SESSION));
    const request = { headers: FIELDS };
    const error = await errorOf(toolkit.sessionHeaders({ authClient: failing(`${SESSION} ${BEARER}`) }, request));
    expect(error.logDetail()).toBe('Error: cannot open "[redacted] [redacted]" of this visitor');
    expect(inspect(error, { depth: 12, showHidden: true }) + JSON.stringify(error)).not.toMatch(ANY);
  });
});

describe('a token of the session', () => {
  it('does not appear in any text about its request, shared or not', async () => {
    const tokenExchange = new FakeTokenExchange();
    tokenExchange.answer = ({ assertion }) => ({
      kind: 'failure',
      reason: 'unavailable',
      block: 'onBehalfOf',
      fields: [],
      advice: 'Check it.',
      log: `cannot exchange ${assertion}`,
    });
    const source = fromFunction(() => TOKEN, { sessionCookies: ['connect.sid'] });
    const { chat, telemetry } = site(source, { tokenExchange }, { onBehalfOf: { scope: 'api://platform/.default' } });
    const answers = await Promise.all([chat(), chat()]);
    const texts = await Promise.all(answers.map((answer) => answer.text()));
    expect(telemetry.of('error').map(({ detail }) => detail)).toEqual(Array(2).fill('cannot exchange [redacted]'));
    expect(JSON.stringify(telemetry.events) + texts.join('')).not.toMatch(ANY);
  });

  it('is sent to the platform and stays out of the texts of its request', async () => {
    const { chat, telemetry, upstream } = site(fromFunction(() => TOKEN));
    await chat();
    expect(upstream.requests[0]?.headers['authorization']).toBe(`Bearer ${TOKEN}`);
    expect(JSON.stringify(telemetry.events)).not.toMatch(ANY);
  });
});

it('a cookie value cannot prevent the redaction of other secrets', async () => {
  const { chat, telemetry } = site(failing('Authorization: Bearer of-somebody-else-1'));
  await chat({ cookie: 'a=Bearer; b=Authorization' });
  expect(telemetry.of('error')[0]?.detail).not.toContain('of-somebody-else-1');
});
