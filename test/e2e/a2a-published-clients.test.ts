import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ClientFactory } from '@a2a-js/sdk/client';
import { createToolkit, type ServerConfig, type Toolkit } from 'agent-bff';
import { createA2ARouter } from 'agent-bff/express';
import { createNodeHandler } from 'agent-bff/node';
import { A2AClient } from 'a2a-sdk-0.2/client';
import { ClientFactory as ClientFactory03 } from 'a2a-sdk-0.3/client';
import express from 'express';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { type Platform, startPlatform } from '../../examples/platform/start-platform.js';
import type { Site } from '../site/framework.js';
import { listeningSite } from '../site/frameworks/listening-site.js';
import { GENERATIONS } from '../support/a2a-generations.js';
import { ROOT } from '../support/documents.js';
import { newServiceAccountKey } from '../support/service-account.js';
import { startTaskKeepingAgent } from '../support/task-keeping-agent.js';
import { agentDevelopmentKit, agUi, aiSdk, type Ask, assistantUi, strands } from './clients/published-clients.js';

const MOUNT = '/api/a2a';
const CARD = '/.well-known/agent-card.json';
/** The columns of the table in docs/clients.md. */
const ADDRESSES: Readonly<Record<string, string>> = {
  'the mount': MOUNT,
  'with a slash': `${MOUNT}/`,
  'its card': MOUNT + CARD,
  'the root': '',
};

/** The rows of that table. A client is given an address and nothing else. */
const CLIENTS: Readonly<Record<string, Ask>> = {
  ...Object.fromEntries(GENERATIONS.slice(0, 3).map(([name, connect]) => [name, sdk(connect)])),
  'a2a-ai-provider': aiSdk,
  '@google/adk': agentDevelopmentKit,
  '@strands-agents/sdk': strands,
  '@ag-ui/a2a': agUi((address) => new A2AClient(address)),
};

const SITES: readonly [string, (toolkit: Toolkit) => Promise<Site>][] = [
  [
    'Express',
    (toolkit) => {
      const app = express();
      app.all(CARD, (request, _response, next) => {
        request.url = MOUNT + request.url;
        next();
      });
      app.use(MOUNT, createA2ARouter(express, { toolkit }));
      return listeningSite(app);
    },
  ],
  [
    'node:http',
    (toolkit) => {
      const handler = createNodeHandler({ toolkit });
      return listeningSite((request, response) => {
        const { url = '' } = request;
        if (url.startsWith(CARD)) request.url = MOUNT + url;
        handler(request, response);
      });
    },
  ],
];

function sdk(connect: (typeof GENERATIONS)[number][1]): Ask {
  return async (address, question) => {
    const client = await connect(address);
    let answer = '';
    for await (const event of client.stream({ text: question })) {
      const { artifact } = artifactIn(event);
      for (const { text, content } of artifact?.parts ?? []) answer += text ?? content?.value ?? '';
    }
    return answer;
  };
}

interface ArtifactUpdate {
  readonly artifact?: { readonly parts: readonly { readonly text?: string; readonly content?: { value: string } }[] };
}

/** The artifact update in an event: plain in v0.3, in a JSON-RPC response in v0.2, in a payload in v1.0. */
function artifactIn(event: unknown): ArtifactUpdate {
  const { result, payload } = event as { result?: ArtifactUpdate; payload?: { value: ArtifactUpdate } };
  return result ?? payload?.value ?? (event as ArtifactUpdate);
}

const startSite = async (config: ServerConfig, serve: (toolkit: Toolkit) => Promise<Site>) => {
  const toolkit = createToolkit(config);
  const site = await serve(toolkit);
  return { url: site.url, close: () => site.close().then(() => toolkit.close()) };
};

const WHOLE = /^You said: “Hello there”\..* to your browser\.$/;

describe.each(SITES)('a site on %s with only the configuration of the README', (_framework, serve) => {
  let platform: Platform;
  let site: Awaited<ReturnType<typeof startSite>>;

  beforeAll(async () => {
    platform = await startPlatform({ wordMs: 1, slowStepMs: 10 });
    const { privateKey: privateKeyPem, publicKey } = await newServiceAccountKey();
    platform.registerKey('key-1', publicKey, 'sa-1');
    const serviceAccount = { serviceAccountId: 'sa-1', keyId: 'key-1', privateKeyPem };
    const { a2aUrl, serviceApiUrl } = platform;
    site = await startSite({ a2aUrl, serviceApiUrl, serviceAccount }, serve);
  });
  afterAll(async () => {
    await site?.close();
    await platform?.close();
  });
  // Several clients log to the console.
  beforeEach(() => {
    for (const level of ['log', 'warn', 'error'] as const) vi.spyOn(console, level).mockReturnValue();
  });

  it.each(Object.keys(CLIENTS))(
    'is found by %s at the addresses in docs/clients.md only',
    async (name) => {
      const found: string[] = [];
      for (const [column, path] of Object.entries(ADDRESSES)) {
        const answer = await CLIENTS[name]?.(site.url + path, 'Hello there').catch((error: unknown) => String(error));
        if (WHOLE.test(answer ?? '')) found.push(column);
        else expect(answer).toMatch(/agent card/i);
      }
      expect(found).not.toEqual([]);
      expect(found).toEqual(documented(name));
    },
    30_000,
  );

  it('is found by @a2a-js/sdk at the full address of its card', async () => {
    for (const Factory of [ClientFactory, ClientFactory03]) {
      const client = await new Factory().createFromUrl(site.url + MOUNT + CARD, '');
      expect(JSON.stringify(await client.getAgentCard())).toContain(`"url":"${site.url}${MOUNT}"`);
    }
  });

  it('responds 404 to @assistant-ui/react-a2a, which only speaks HTTP+JSON', async () => {
    await expect(assistantUi(site.url + MOUNT, 'Hello there')).rejects.toThrow('404');
  });
});

describe('a site that also serves HTTP+JSON', () => {
  it.each(SITES)('on %s is found by @assistant-ui/react-a2a at the mount', async (_framework, serve) => {
    const agent = await startTaskKeepingAgent();
    const { a2aUrl, url } = agent;
    const bindings = ['JSONRPC', 'HTTP+JSON'] as const;
    const site = await startSite({ a2aUrl, serviceApiUrl: url, serviceApiKey: 'key', bindings }, serve);
    for (const path of [MOUNT, `${MOUNT}/`]) {
      expect(await assistantUi(site.url + path, 'Hello there')).toMatch(WHOLE);
    }
    await site.close();
    await agent.close();
  });
});

/** The columns with a check mark in the client's row. */
function documented(name: string): string[] {
  const page = readFileSync(join(ROOT, 'docs/clients.md'), 'utf8');
  const row = page.split('\n').find((line) => line.startsWith('|') && line.includes(`\`${name}\``));
  const cells = row?.split('|').slice(2) ?? [];
  return Object.keys(ADDRESSES).filter((_column, index) => cells[index]?.trim() === '✓');
}
