import { createToolkit } from 'agent-bff';
import type { SiteFieldOptions } from 'agent-bff';
import { createA2ARouter, createServiceSurfaceRouter } from 'agent-bff/express';
import express from 'express';
import { describe, expect, it, onTestFinished } from 'vitest';
import { listeningSite } from '../site/frameworks/listening-site.js';
import { type Exchange, RecordingUpstream } from '../support/recording-upstream.js';

const VISITS = 1_000;
const AT_ONCE = 50;
/** All tenants' answers carry the same tag: only the field tells them apart. */
const TAG = '"v1"';

interface Seen {
  readonly render: unknown;
  readonly card: unknown;
  readonly project: unknown;
  readonly brand: unknown;
}

/** A platform whose every answer is for the tenant named in this field. */
function answerFor(field: string, cacheControl: string): (exchange: Exchange) => void {
  return (exchange) => {
    const tenant = exchange.values(field)[0] ?? 'nobody';
    const { target } = exchange.request;
    const headers = { etag: TAG, 'cache-control': cacheControl };
    const reply = (): void => {
      if (exchange.values('if-none-match')[0] === TAG) exchange.head(304, headers).end();
      else if (target.endsWith('/surfaces/board')) exchange.json(200, { surface: { id: 'board' } }, headers);
      else if (target.endsWith('/render'))
        exchange.json(200, { surface: { id: 'board', name: 'b' }, content: tenant }, headers);
      else if (target.endsWith('/project')) exchange.json(200, { id: tenant });
      else if (target.endsWith('/brand.css')) exchange.head(200, { 'content-type': 'text/css' }).end(`/* ${tenant} */`);
      else exchange.json(200, { name: tenant, url: 'http://a.example/', skills: [], capabilities: {} }, headers);
    };
    // By then visitors of both tenants wait.
    setImmediate(reply);
  };
}

interface Shop {
  readonly url: string;
  readonly upstream: RecordingUpstream;
}

/** A site behind Express that serves two tenants with one credential. */
async function shop(field: string, fields: SiteFieldOptions, freshMs: number): Promise<Shop> {
  const upstream = await RecordingUpstream.start();
  upstream.willAnswer(answerFor(field, freshMs === 0 ? 'max-age=0' : 'max-age=60'));
  const toolkit = createToolkit({
    a2aUrl: `${upstream.origin}/agent`,
    serviceApiUrl: `${upstream.origin}/api`,
    serviceApiKey: 'one-key-for-all',
  });
  const app = express();
  app.use('/api/a2a', createA2ARouter(express, { toolkit, ...fields }));
  app.use(
    '/api/widgets',
    createServiceSurfaceRouter(express, { toolkit, cache: { enabled: true, freshMs }, ...fields }),
  );
  const site = await listeningSite(app);
  onTestFinished(async () => {
    await site.close();
    await toolkit.close();
    await upstream.close();
  });
  return { url: site.url, upstream };
}

/** What a visitor of a tenant is shown: a widget, and the chat's configuration. */
async function visit({ url }: Shop, headers: Record<string, string>): Promise<Seen> {
  const [widget, config] = await Promise.all([
    fetch(`${url}/api/widgets/board/render`, { method: 'POST', headers }),
    fetch(`${url}/api/a2a/config`, { headers }),
  ]);
  expect([widget.status, config.status]).toEqual([200, 200]);
  const { content } = (await widget.json()) as { content: unknown };
  const { agentCard, serviceProjectId, brandCss } = (await config.json()) as {
    agentCard: { name: unknown };
    serviceProjectId: unknown;
    brandCss: unknown;
  };
  return { render: content, card: agentCard.name, project: serviceProjectId, brand: brandCss };
}

/** How many visitors were shown something of another tenant. */
async function misled(site: Shop, headersOf: (tenant: string) => Record<string, string>): Promise<number> {
  let count = 0;
  for (let first = 0; first < VISITS; first += AT_ONCE) {
    await Promise.all(
      Array.from({ length: AT_ONCE }, async (_, index) => {
        const tenant = (first + index) % 2 === 0 ? 'acme' : 'globex';
        const seen = await visit(site, headersOf(tenant));
        const own = { render: tenant, card: tenant, project: tenant, brand: `/* ${tenant} */` };
        if (JSON.stringify(seen) !== JSON.stringify(own)) count += 1;
      }),
    );
  }
  return count;
}

const fromCookie: SiteFieldOptions = {
  headers: (request: express.Request) => ({ 'x-tenant': /tenant=(\w+)/.exec(request.get('cookie') ?? '')?.[1] }),
};
const fromBrowser: SiteFieldOptions = { forward: { request: ['X-Tenant'] } };
const cookie = (tenant: string): Record<string, string> => ({ cookie: `tenant=${tenant}` });
const field = (tenant: string): Record<string, string> => ({ 'x-tenant': tenant });

describe('two tenants who visit in turn, a thousand times and many at once', { timeout: 60_000 }, () => {
  it.each([
    ['a field the site adds, and everything is fresh', fromCookie, cookie, 60_000],
    ['a field the site adds, and everything is stale', fromCookie, cookie, 0],
    ['a field of the browser that crosses, and everything is fresh', fromBrowser, field, 60_000],
    ['a field of the browser that crosses, and everything is stale', fromBrowser, field, 0],
  ])('never see each other where the platform goes by %s', async (_words, fields, headersOf, freshMs) => {
    const site = await shop('x-tenant', fields, freshMs);
    expect(await misled(site, headersOf)).toBe(0);
    const renders = site.upstream.requests.filter(({ target }) => target.endsWith('/render'));
    // They were answered from the cache, or this shows nothing.
    expect(renders.length).toBe(2);
  });

  it('do see each other where the platform goes by a field that is for tracing alone, so that the count above can fail', async () => {
    const site = await shop('baggage', { forward: { request: ['baggage'] } }, 60_000);
    expect(await misled(site, (tenant) => ({ baggage: tenant }))).toBeGreaterThan(0);
  });
});
