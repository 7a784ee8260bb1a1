import { describe, expect, it, onTestFinished } from 'vitest';
import { FakeTokenExchange, FakeUpstream, RecordingTelemetry } from '../../src/adapters/fakes/fakes.js';
import { createToolkit } from '../../src/composition/toolkit/toolkit.js';
import type { HttpHandler, HttpRequest } from '../../src/ports/http.js';
import { browserRequest } from '../adapters/web/browser-request.js';
import { textOf } from '../contracts/http-upstream.contract.js';
import {
  chatRoute,
  recordRoute,
  serviceSurfaceRoute,
  sessionSurfaceRoute,
  surfaceRoute,
} from '../support/toolkit-routes.js';

const CLAIMS = '{"access_token":{"acrs":{"essential":true,"value":"c1"}}}';
const CHALLENGE = `Bearer error="insufficient_claims", claims="${btoa(CLAIMS)}"`;
const auth = () => 'token-of-ann';

function sites() {
  const upstream = new FakeUpstream(() => ({
    status: 401,
    headers: { 'content-type': 'application/json', 'www-authenticate': CHALLENGE },
    body: '{"error":"more claims"}',
  }));
  const telemetry = new RecordingTelemetry();
  const exchange = new FakeTokenExchange();
  const toolkit = createToolkit(
    { a2aUrl: 'https://agent.example/a2a', serviceApiUrl: 'https://platform.example', serviceApiKey: 'key' },
    { upstream, telemetry, tokenExchange: exchange },
  );
  onTestFinished(() => toolkit.close({ graceMs: 0 }));
  const render = { path: '/w1/render' };
  const routes: Readonly<Record<string, readonly [HttpHandler, Partial<HttpRequest>?]>> = {
    'the chat of a user': [chatRoute(toolkit, { auth })],
    'a widget of a user': [sessionSurfaceRoute(toolkit, { auth }), render],
    'records of a user': [recordRoute(toolkit, { auth }), { method: 'GET', path: '/chats', body: null }],
    'the chat of the service': [chatRoute(toolkit)],
    'a widget of the service': [serviceSurfaceRoute(toolkit), render],
    'a widget with headers of the site': [
      surfaceRoute(toolkit, { getHeaders: () => ({ authorization: 'Bearer own' }) }),
      render,
    ],
    'the chat of a user whose token is exchanged': [chatRoute(toolkit, { auth, exchange: 'on_behalf_of' })],
  };
  const ask = async (name: string) => {
    const [route, request] = routes[name]!;
    const { status, headers, body } = await route(browserRequest(request));
    const text = await textOf(body);
    return { status, cache: headers['cache-control'], text, value: JSON.parse(text) as Record<string, never> };
  };
  return { ask, telemetry, exchange };
}

describe('claims that the platform requests', () => {
  it.each(['a widget of a user', 'records of a user'])('are in the problem for %s', async (name) => {
    const { ask } = sites();
    expect(await ask(name)).toMatchObject({
      status: 403,
      cache: 'no-store',
      value: { code: 'interaction_required', claims: CLAIMS },
    });
  });

  it('are in the data of the error for the chat of a user', async () => {
    const { ask } = sites();
    const { status, cache, value } = await ask('the chat of a user');
    expect([status, cache]).toEqual([403, 'no-store']);
    expect(value).toMatchObject({
      error: { data: [{ reason: 'INTERACTION_REQUIRED', metadata: { claims: CLAIMS } }] },
    });
  });

  it.each(['the chat of the service', 'a widget of the service'])('are in the log only for %s', async (name) => {
    const { ask, telemetry } = sites();
    const { text } = await ask(name);
    expect(text).not.toContain('acrs');
    expect(JSON.stringify(telemetry.events)).toContain('acrs');
  });

  it('stay on the server for a widget with headers of the site', async () => {
    const { ask } = sites();
    expect((await ask('a widget with headers of the site')).text).toBe('{"error":"more claims"}');
  });
});

describe('claims that an exchange requests', () => {
  it.each([
    ['reach the page', CLAIMS, CLAIMS],
    ['are left out if they are none', '{"client_secret":"s3cret"}', undefined],
  ])('%s', async (_what, claims, shown) => {
    const { ask, exchange } = sites();
    exchange.answer = () => ({ kind: 'user-refused', reason: 'interaction', log: 'AADSTS50076', claims });
    const { status, text, value } = await ask('the chat of a user whose token is exchanged');
    expect(status).toBe(403);
    const { error } = value as unknown as { error: { data: readonly { metadata: { claims?: string } }[] } };
    expect(error.data[0]?.metadata.claims).toBe(shown);
    expect(text).not.toMatch(/AADSTS|s3cret/);
  });
});
