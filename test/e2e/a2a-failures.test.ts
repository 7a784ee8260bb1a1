import { createToolkit, type ServerConfig } from 'agent-bff';
import express from 'express';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Site } from '../site/framework.js';
import { expressSite } from '../site/frameworks/express.js';
import { GENERATIONS } from '../support/a2a-generations.js';
import { type Answer, RecordingUpstream, refusedOrigin } from '../support/recording-upstream.js';
import { servedCard } from '../support/served-card.js';
import { visit } from '../support/visitor.js';

/** A way in which the site itself answers a message. */
interface Failure {
  readonly what: string;
  readonly config?: () => ServerConfig | Promise<ServerConfig>;
  /** What the agent does. */
  readonly answer?: Answer;
  /** Members of the request that differ from those of a right one. */
  readonly request?: object;
  readonly status: number;
  readonly code: number;
}

const FAILURES: readonly Failure[] = [
  { what: 'no credential', config: () => ({ serviceApiKey: '' }), status: 401, code: -32603 },
  { what: 'a refused credential', answer: (exchange) => exchange.json(401, {}), status: 401, code: -32603 },
  { what: 'no agent at all', config: () => ({ a2aUrl: '' }), status: 401, code: -32603 },
  { what: 'an agent that is down', config: async () => ({ a2aUrl: await refusedOrigin() }), status: 502, code: -32603 },
  { what: 'an agent that resets', answer: (exchange) => exchange.reset(), status: 502, code: -32603 },
  {
    what: 'an agent that keeps silent',
    config: () => ({ timeouts: { headersMs: 100 } }),
    answer: () => undefined,
    status: 504,
    code: -32603,
  },
  { what: 'a redirect', answer: (exchange) => exchange.head(307, { location: '/x' }).end(), status: 502, code: -32603 },
  { what: 'a page of the agent', answer: (exchange) => exchange.head(500).end('<html>'), status: 500, code: -32603 },
  { what: 'a method that is denied', request: { method: 'ListTasks' }, status: 200, code: -32004 },
  {
    what: 'a webhook that is denied',
    request: { method: 'tasks/pushNotificationConfig/set' },
    status: 200,
    code: -32003,
  },
  { what: 'an unknown method', request: { method: 'Nonsense' }, status: 200, code: -32601 },
  { what: 'no method', request: { method: 7 }, status: 400, code: -32600 },
  { what: 'a member in another case', request: { Method: 'SendMessage' }, status: 400, code: -32600 },
];

const IDS: readonly unknown[] = ['a text', '', 'grüezi € 🙂', 0, 7, -1.5, 9_007_199_254_740_991, null];

describe.each([
  ['reads bodies itself', false],
  ['is behind express.json()', true],
])('a site that %s', (_name, json) => {
  describe.each(FAILURES)('answers $what', ({ config, answer, request, status, code }) => {
    let upstream: RecordingUpstream;
    let site: Site;
    let close: () => Promise<void>;

    beforeAll(async () => {
      upstream = await RecordingUpstream.start();
      if (answer !== undefined) upstream.willAnswer(answer);
      const a2aUrl = `${upstream.origin}/a2a`;
      const toolkit = createToolkit({ a2aUrl, serviceApiKey: 'the-api-key', ...(await config?.()) });
      site = await expressSite('a site', express, { json }).start({ toolkit });
      close = async () => {
        await site.close();
        await upstream.close();
        await toolkit.close();
      };
    });
    afterAll(() => close());

    it(`as JSON-RPC error ${String(code)}, under the id of the request whatever that is`, async () => {
      for (const id of IDS) {
        const body = JSON.stringify({ jsonrpc: '2.0', id, method: 'SendMessage', params: { message: {} }, ...request });
        const reply = await visit(site.url, { body });
        expect(reply.status).toBe(status);
        expect(reply.headers['content-type']).toBe('application/json');
        expect(await reply.json()).toMatchObject({ jsonrpc: '2.0', id, error: { code } });
      }
    });

    it('and under null when the request has no id', async () => {
      const body = JSON.stringify({ jsonrpc: '2.0', method: 'SendMessage', params: { message: {} }, ...request });
      const reply = await visit(site.url, { body });
      expect(await reply.json()).toMatchObject({ jsonrpc: '2.0', id: null, error: { code } });
    });

    it('unless its id is none that JSON-RPC knows', async () => {
      for (const id of ['{}', '[1]', 'true']) {
        const rest = JSON.stringify({ jsonrpc: '2.0', method: 'SendMessage', params: { message: {} }, ...request });
        const reply = await visit(site.url, { body: `{"id":${id},${rest.slice(1)}` });
        expect(reply.status).toBe(400);
        expect(await reply.json()).toMatchObject({ jsonrpc: '2.0', id: null, error: { code: -32600 } });
      }
    });
  });
});

describe('a message the site does not read', () => {
  const cases: readonly (readonly [
    string,
    Readonly<Record<string, string>>,
    string | undefined,
    number,
    number,
    RegExp,
  ])[] = [
    ['is from another site', { 'sec-fetch-site': 'cross-site' }, undefined, 403, -32603, /allowedOrigins/],
    ['is too large', {}, JSON.stringify({ text: 'x'.repeat(2_000) }), 413, -32603, /bodyLimitBytes/],
    ['is compressed', { 'content-encoding': 'br' }, undefined, 415, -32603, /Content-Encoding/],
    ['is no JSON by its type', { 'content-type': 'text/plain' }, undefined, 400, -32005, /Content-Type/],
    ['is no JSON', {}, '{"jsonrpc":"2.0","id":7', 400, -32700, /Send one JSON object/],
  ];

  it.each(cases)('because it %s is answered under null, in words every client shows', async (...row) => {
    const [, headers, body, status, code, message] = row;
    const upstream = await RecordingUpstream.start();
    const toolkit = createToolkit({ a2aUrl: upstream.origin, serviceApiKey: 'the-api-key', bodyLimitBytes: 1_000 });
    const cards = servedCard();
    const site = await expressSite('a site', express).start({
      toolkit,
      before: (request, response, next) => {
        // What the browser, or something on the way, makes of the client's request.
        if (request.method === 'POST') Object.assign(request.headers, headers);
        void cards(request as express.Request, response as express.Response, next);
      },
    });
    const reply = await visit(site.url, body === undefined ? {} : { body });
    expect([reply.status, await reply.json()]).toMatchObject([status, { jsonrpc: '2.0', id: null, error: { code } }]);

    for (const [name, connect] of GENERATIONS) {
      // A body that is broken on the way would be broken for these clients too; they send none.
      if (code === -32700) continue;
      const talk = await connect(site.url);
      const words = { text: body === undefined ? 'Hello' : body };
      const shown = await (async () => {
        for await (const event of talk.stream(words)) return JSON.stringify(event);
        return 'nothing';
      })().catch((error: unknown) => String(error));
      expect(shown, name).toMatch(message);
    }
    expect(upstream.requests).toEqual([]);
    await site.close();
    await upstream.close();
    await toolkit.close();
  });
});
