import { createToolkit, type ServerConfig } from 'agent-bff';
import { createNodeHandler } from 'agent-bff/node';
import type { ChatHandlerOptions, ToolkitOption } from 'agent-bff';
import { createA2ARouter } from 'agent-bff/express';
import { RecordingTelemetry } from 'agent-bff/testing';
import express from 'express';
import express4 from 'express4';
import { describe, expect, it, onTestFinished } from 'vitest';
import { listeningSite } from '../site/frameworks/listening-site.js';
import { type Exchange, RecordingUpstream } from '../support/recording-upstream.js';
import { type Reply, visit } from '../support/visitor.js';

const CARD_PATH = '/.well-known/agent-card.json';
const BRAND = ':root { --brand: #123456; }\n';

interface ConfigRecord {
  readonly agentCard: Readonly<Record<string, unknown>> & { readonly url: string };
  readonly a2aEndpoint: string;
  readonly warnings: readonly string[];
}

type Mount = (app: express.Express, options: ChatHandlerOptions & ToolkitOption, framework: typeof express) => void;

interface SiteOptions {
  readonly config?: ServerConfig;
  readonly mount?: Mount;
  readonly framework?: typeof express;
}

const usual: Mount = (app, options, framework) => {
  app.use('/api/a2a', createA2ARouter(framework, options));
};

/** A platform: the agent with its card, the project and the brand, until a test says otherwise. */
class ConfigPlatform {
  readonly upstream: RecordingUpstream;
  /** Answers by path. */
  readonly answers: Map<string, (exchange: Exchange) => void>;

  private constructor(upstream: RecordingUpstream) {
    this.upstream = upstream;
    this.answers = new Map([
      [CARD_PATH, (exchange) => exchange.json(200, this.card(), { etag: '"card-1"', 'cache-control': 'max-age=0' })],
      ['/api/project', (exchange) => exchange.json(200, { id: 'proj-7' })],
      ['/api/brand.css', (exchange) => exchange.head(200, { 'content-type': 'text/css' }).end(BRAND)],
    ]);
    upstream.willAnswer((exchange) => {
      const answer = this.answers.get(exchange.request.target);
      if (answer === undefined) exchange.head(404).end('no such page');
      else answer(exchange);
    });
  }

  static async start(): Promise<ConfigPlatform> {
    const upstream = await RecordingUpstream.start();
    onTestFinished(() => upstream.close());
    return new ConfigPlatform(upstream);
  }

  card(fields: object = {}): object {
    return {
      name: 'An agent',
      url: `${this.upstream.origin}/a2a`,
      capabilities: { streaming: true, pushNotifications: true },
      securitySchemes: { key: { type: 'apiKey', in: 'header', name: 'x-key' } },
      'x-vendor': { kept: true },
      ...fields,
    };
  }

  /** Paths asked for so far, in no order. */
  get asked(): string[] {
    return this.upstream.requests.map(({ target }) => target).toSorted();
  }

  /** A site of this platform. */
  async site({ config = {}, mount = usual, framework = express }: SiteOptions = {}) {
    const telemetry = new RecordingTelemetry();
    const toolkit = createToolkit(
      {
        a2aUrl: `${this.upstream.origin}/a2a`,
        serviceApiUrl: `${this.upstream.origin}/api`,
        serviceApiKey: 'the-api-key',
        ...config,
      },
      { telemetry },
    );
    const app = framework();
    mount(app, { toolkit }, framework);
    const site = await listeningSite(app);
    onTestFinished(async () => {
      await site.close();
      await toolkit.close();
    });
    const get = (headers: Record<string, string> = {}, path = '/api/a2a/config'): Promise<Reply> =>
      visit(site.url, { method: 'GET', path, headers });
    return { url: site.url, telemetry, toolkit, get };
  }
}

/** Says nothing, for as long as the site listens. */
const silence = (): void => undefined;

describe('the chat configuration of a site', () => {
  it('is everything the browser needs, and leads nowhere but to the site', async () => {
    const platform = await ConfigPlatform.start();
    const { url, get } = await platform.site();
    const reply = await get();
    expect(reply.status).toBe(200);
    expect(reply.headers).toMatchObject({
      'content-type': 'application/json',
      'cache-control': 'private, max-age=60',
      vary: 'A2A-Version, Cookie',
      etag: expect.stringMatching(/^"\w+"$/) as string,
    });
    const text = await reply.text();
    expect(JSON.parse(text)).toEqual({
      agentCard: {
        name: 'An agent',
        url: `${url}/api/a2a`,
        preferredTransport: 'JSONRPC',
        capabilities: { streaming: true, pushNotifications: false },
        'x-vendor': { kept: true },
      },
      serviceProjectId: 'proj-7',
      brandCss: BRAND,
      supportsStreaming: true,
      a2aEndpoint: '/api/a2a',
      warnings: [],
    });
    expect(text).not.toContain(platform.upstream.origin);
  });

  it('is revalidated by the browser, and by the site at the agent', async () => {
    const platform = await ConfigPlatform.start();
    const { get } = await platform.site();
    const first = await get();
    await first.text();
    platform.answers.set(CARD_PATH, (exchange) => {
      if (exchange.values('if-none-match')[0] === '"card-1"') exchange.head(304).end();
      else exchange.json(200, platform.card({ name: 'Another' }));
    });
    const again = await get({ 'if-none-match': String(first.headers.etag) });
    expect([again.status, await again.text()]).toEqual([304, '']);
    expect(again.headers).toMatchObject({ etag: first.headers.etag, vary: 'A2A-Version, Cookie' });
    expect(again.headers).not.toHaveProperty('content-length');
    // The project and the brand are asked for once a minute.
    expect(platform.asked).toEqual([
      CARD_PATH,
      CARD_PATH,
      '/a2a/.well-known/agent-card.json',
      '/api/brand.css',
      '/api/project',
    ]);
    const other = await get({ 'if-none-match': '"something-else"' });
    expect([other.status, (await other.json<ConfigRecord>()).agentCard['name']]).toEqual([200, 'An agent']);
  });

  it('is another for another version of the protocol, and the place of the card is remembered', async () => {
    const platform = await ConfigPlatform.start();
    const { get } = await platform.site();
    platform.answers.delete(CARD_PATH);
    platform.answers.set('/.well-known/agent.json', (exchange) =>
      exchange.json(200, platform.card({ name: `for ${exchange.values('a2a-version').join()}` }), {
        'cache-control': 'max-age=60',
      }),
    );
    const name = async (headers: Record<string, string>, query = '') =>
      (await (await get(headers, `/api/a2a/config${query}`)).json<ConfigRecord>()).agentCard['name'];
    expect(await name({})).toBe('for ');
    expect(await name({ 'a2a-version': '1.0' })).toBe('for 1.0');
    expect(await name({}, '?A2A-Version=0.3')).toBe('for 0.3');
    expect(await name({ 'a2a-version': '1.0' })).toBe('for 1.0');
    const cards = platform.upstream.requests
      .map(({ target }) => target)
      .filter((target) => target.includes('well-known'));
    expect(cards).toEqual([
      '/a2a/.well-known/agent-card.json',
      CARD_PATH,
      '/a2a/.well-known/agent.json',
      '/.well-known/agent.json',
      '/.well-known/agent.json',
      '/.well-known/agent.json',
    ]);
  });

  it('shows the credential to the platform alone, wherever the card lies', async () => {
    const platform = await ConfigPlatform.start();
    const elsewhere = await RecordingUpstream.start();
    onTestFinished(() => elsewhere.close());
    elsewhere.willAnswer((exchange) => exchange.json(200, platform.card()));
    const { get } = await platform.site({ config: { agentCardUrl: `${elsewhere.origin}/cards/7` } });
    const visitor = { cookie: 'session=1', authorization: 'Bearer of-the-visitor' };
    expect((await get(visitor)).status).toBe(200);
    const [card] = elsewhere.requests;
    expect(card?.fields.filter(([name]) => /authorization|cookie|api-key/.test(name))).toEqual([]);
    expect(platform.upstream.requests).toHaveLength(2);
    for (const { fields } of platform.upstream.requests) {
      expect(fields.filter(([name]) => /authorization|cookie|api-key/.test(name))).toEqual([
        ['x-api-key', 'the-api-key'],
      ]);
    }
  });
});

describe('what the platform does not give', () => {
  it.each([
    ['/api/project', 'project_unavailable', { serviceProjectId: null, brandCss: BRAND }],
    ['/api/brand.css', 'brand_unavailable', { serviceProjectId: 'proj-7', brandCss: '' }],
  ])('%s is a warning, whether it fails or hangs', async (path, warning, rest) => {
    for (const answer of [(exchange: Exchange) => exchange.reset(), silence]) {
      const platform = await ConfigPlatform.start();
      platform.answers.set(path, answer);
      const { get, telemetry } = await platform.site({ config: { timeouts: { lookupMs: 300 } } });
      const reply = await get();
      expect([reply.status, await reply.json()]).toMatchObject([200, { ...rest, warnings: [warning] }]);
      expect(telemetry.of('warning')).toMatchObject([{ code: warning }]);
    }
  });

  it.each<[string, (exchange: Exchange) => void, number, string]>([
    ['is not there', (exchange) => exchange.head(404).end(), 502, 'upstream_invalid_response'],
    ['is a web page', (exchange) => exchange.head(200).end('<html>'), 502, 'upstream_invalid_response'],
    ['breaks off', (exchange) => exchange.head(200).write('{"name":').reset(), 502, 'upstream_invalid_response'],
    ['is answered by a reset', (exchange) => exchange.reset(), 502, 'upstream_unreachable'],
    ['is a redirect', (exchange) => exchange.head(302, { location: '/elsewhere' }).end(), 502, 'upstream_redirect'],
    ['does not come', silence, 504, 'upstream_timeout'],
    ['never comes to its end', (exchange) => void exchange.head(200).write('{"name":'), 504, 'upstream_timeout'],
  ])('a card that %s is a problem of its own', async (_how, answer, status, code) => {
    const platform = await ConfigPlatform.start();
    for (const path of [CARD_PATH, '/a2a/.well-known/agent-card.json']) platform.answers.set(path, answer);
    const { get } = await platform.site({ config: { timeouts: { lookupMs: 300 } } });
    const reply = await get();
    const text = await reply.text();
    expect([reply.status, reply.headers['content-type']]).toEqual([status, 'application/problem+json']);
    expect(JSON.parse(text)).toMatchObject({ code, status });
    for (const secret of [platform.upstream.origin, '127.0.0.1', 'the-api-key', 'well-known']) {
      expect(text).not.toContain(secret);
    }
    expect(reply.headers).not.toHaveProperty('etag');
  });

  it('a card that did not come in time is asked for again by the next visitor', async () => {
    const platform = await ConfigPlatform.start();
    platform.answers.set('/a2a/.well-known/agent-card.json', silence);
    const { get } = await platform.site({ config: { timeouts: { lookupMs: 300 } } });
    expect((await get()).status).toBe(504);
    platform.answers.delete('/a2a/.well-known/agent-card.json');
    expect((await get()).status).toBe(200);
  });
});

describe.each([
  ['Express 4', express4],
  ['Express 5', express],
])('the address of the chat under %s', (_name, framework) => {
  const FORWARDED = { 'x-forwarded-proto': 'https', 'x-forwarded-host': 'shop.example' };
  const nested: Mount = (app, options, made) => {
    const shop = made.Router();
    shop.use('/:language/chat', createA2ARouter(made, options));
    app.use('/shop', shop);
  };
  const trusting: Mount = (app, options, made) => {
    app.set('trust proxy', true);
    usual(app, options, made);
  };

  it.each<[string, SiteOptions, Record<string, string>, string, string]>([
    ['is the one the browser used', {}, { host: 'shop.example:8080' }, '', 'http://shop.example:8080/api/a2a'],
    [
      'does not believe what anybody may send',
      {},
      { host: 'shop.example', ...FORWARDED, 'x-forwarded-host': 'evil.example' },
      '',
      'http://shop.example/api/a2a',
    ],
    [
      'believes the proxy the application trusts',
      { mount: trusting },
      { host: 'inner:3000', ...FORWARDED },
      '',
      'https://shop.example/api/a2a',
    ],
    [
      'is https behind a TLS terminator by configuration',
      { config: { publicUrl: 'https://shop.example/' } },
      { host: 'inner:3000' },
      '',
      'https://shop.example/api/a2a',
    ],
    [
      'has the prefix a proxy cut off',
      { config: { publicUrl: 'https://shop.example/eu' } },
      { host: 'inner:3000' },
      '',
      'https://shop.example/eu/api/a2a',
    ],
    [
      'has every mount path',
      { mount: nested },
      { host: 'shop.example' },
      '/shop/de/chat',
      'http://shop.example/shop/de/chat',
    ],
    [
      'has no prefix twice',
      { mount: nested, config: { publicUrl: 'https://shop.example/shop' } },
      { host: 'inner' },
      '/shop/de/chat',
      'https://shop.example/shop/de/chat',
    ],
  ])('%s', async (_what, options, headers, mount, expected) => {
    const platform = await ConfigPlatform.start();
    const { get } = await platform.site({ ...options, framework });
    const record = await (await get(headers, `${mount || '/api/a2a'}/config`)).json<ConfigRecord>();
    expect(record.agentCard.url).toBe(expected);
    expect(record.a2aEndpoint).toBe(new URL(expected).pathname);
  });
});

describe('the address of the chat on node:http', () => {
  it('is the one the browser used, or the configured one', async () => {
    const platform = await ConfigPlatform.start();
    for (const [publicUrl, expected] of [
      ['', 'http://shop.example:8080/api/a2a'],
      ['https://shop.example', 'https://shop.example/api/a2a'],
    ] as const) {
      const { toolkit } = await platform.site({ config: { publicUrl } });
      const site = await listeningSite(createNodeHandler({ toolkit }));
      onTestFinished(() => site.close());
      const headers = { host: 'shop.example:8080', 'x-forwarded-proto': 'https', 'x-forwarded-host': 'evil.example' };
      const reply = await visit(site.url, { method: 'GET', path: '/api/a2a/config', headers });
      expect((await reply.json<ConfigRecord>()).agentCard.url).toBe(expected);
    }
  });
});
