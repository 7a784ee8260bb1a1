import { describe, expect, it } from 'vitest';
import { FakeUpstream } from '../../../src/adapters/fakes/fake-upstream.js';
import { HttpJsonBinding } from '../../../src/domain/chat/http-json-binding.js';
import { httpJsonCall } from '../../../src/domain/chat/http-json-call.js';
import { MethodPolicy } from '../../../src/domain/chat/method-policy.js';
import type { HttpResponse } from '../../../src/ports/http.js';
import { BrokerWorld, SERVICE } from '../credentials/broker-fixture.js';

const AGENT = 'https://agent.example';

/** The binding between a browser's `GET /tasks` and a fake agent. */
class QueryWorld extends BrokerWorld {
  readonly upstream: FakeUpstream = new FakeUpstream();
  /** How often the agent's card was looked up. */
  cards = 0;
  readonly #binding: HttpJsonBinding = new HttpJsonBinding({
    upstream: this.upstream,
    credentials: this.broker,
    excerpts: this.excerpts,
    agent: { origin: AGENT, path: '/rpc' },
    headersMs: 60_000,
    bodyIdleMs: 30_000,
    card: () => {
      this.cards += 1;
      return Promise.resolve({ supportedInterfaces: [{ url: `${AGENT}/rest/`, protocolBinding: 'HTTP+JSON' }] });
    },
  });

  list(query: string): Promise<HttpResponse> {
    const call = httpJsonCall('/tasks');
    if (call === undefined) throw new Error('"/tasks" is a path of the binding');
    const { signal } = new AbortController();
    const head = { method: 'GET', headers: {}, native: { request: undefined }, query, signal };
    const rewrite = { url: 'https://site.example/api/a2a', policy: { allows: () => true }, bindings: ['HTTP+JSON'] };
    return this.#binding.forward({ head, call, body: undefined }, SERVICE, new MethodPolicy('all'), rewrite);
  }
}

describe('the query of an HTTP+JSON call', () => {
  it.each(['', '?', '?pageSize=5&pageToken=a&pageToken=b', '?q=%2e%2e/%00', '?a?b', '?//elsewhere.example/@x'])(
    '%j arrives at the agent as it came',
    async (query) => {
      const world = new QueryWorld();
      await world.list(query);
      expect(world.upstream.requests.map(({ origin, path }) => origin + path)).toEqual([`${AGENT}/rest/tasks${query}`]);
    },
  );

  it.each(['?a#b', '?a b', '?a\r\nhost: elsewhere.example', '?\u0000', '?\u00fc', 'a=1', '/../admin', '#a', '.7'])(
    '%j is no route: no credential is made for it, and nothing leaves',
    async (query) => {
      const world = new QueryWorld();
      await expect(world.list(query)).rejects.toMatchObject({ code: 'not_found', detail: 'There is no such route.' });
      expect([world.account.issued, world.cards, world.upstream.requests.length]).toEqual([0, 0, 0]);
    },
  );
});
