import { type ChatHandlerOptions, createToolkit, type ServerConfig } from 'agent-bff';
import { FakeUpstream, RecordingTelemetry } from 'agent-bff/testing';
import { describe, expect, it } from 'vitest';
import { chatRoute, surfaceRoute } from '../support/toolkit-routes.js';

const AGENT = { a2aUrl: 'https://agent.example/a2a', serviceApiKey: 'key' };

function warnings(config: ServerConfig, ...routes: readonly (ChatHandlerOptions | undefined)[]): readonly string[] {
  const telemetry = new RecordingTelemetry();
  const toolkit = createToolkit(config, { telemetry, upstream: new FakeUpstream() });
  for (const options of routes) chatRoute(toolkit, options);
  surfaceRoute(toolkit);
  return telemetry.of('warning').map(({ code, detail }) => `${code}: ${detail}`);
}

describe('conversations that nobody chose to be open', () => {
  it('are reported once, in one sentence that names both choices', () => {
    expect(warnings(AGENT, {}, { strategy: 'none' })).toEqual([
      'conversations_open: Anyone who learns the id of a conversation can read and continue it: set "conversations" to "visitor", or to "open" if that is meant.',
    ]);
  });

  it.each<[string, ServerConfig, ChatHandlerOptions?]>([
    ['open by configuration', { ...AGENT, conversations: 'open' }, {}],
    ["the visitors' by configuration", { ...AGENT, conversations: 'visitor' }, {}],
    ['open by the route', AGENT, { conversations: 'open' }],
    ["the visitors' by the route", AGENT, { conversations: 'visitor' }],
    ["the signed-in users'", AGENT, { auth: () => 'token' }],
    ['of no agent', { serviceApiUrl: 'https://api.example', serviceApiKey: 'key' }, {}],
  ])('are not reported when they are %s', (_what, config, options) => {
    expect(warnings(config, options)).toEqual([]);
  });
});
