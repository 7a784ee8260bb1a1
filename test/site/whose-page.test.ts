import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ServerConfig } from 'agent-bff';
import { FakeIdentityProvider } from 'agent-bff/testing';
import express from 'express';
import { describe, expect, it, onTestFinished } from 'vitest';
import { serve } from '../../src/composition/cli/serve.js';
import { ROOT } from '../support/documents.js';
import { RecordingUpstream } from '../support/recording-upstream.js';
import { visit } from '../support/visitor.js';
import { expressSite } from './frameworks/express.js';
import { nodeHttpSite } from './frameworks/node-http.js';
import { ADA } from './platform-world.js';
import { startWorld } from './world.js';

/** One row of a table of docs/security.md. */
interface Row {
  readonly line: string;
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly config: ServerConfig;
  readonly status: number;
}

const HEADING = '## Whose page, and by which name';
const CODES: Readonly<Record<number, string>> = { 401: 'session_required', 403: 'origin_refused', 421: 'host_refused' };
const CARD = { name: 'Agent', url: 'https://agent.example', protocolVersion: '0.3.0', preferredTransport: 'JSONRPC' };

const [SITE_ROWS = [], SERVE_ROWS = []] = tables();

/** The tables of the section, each as its rows. */
function tables(): readonly (readonly Row[])[] {
  const page = readFileSync(join(ROOT, 'docs/security.md'), 'utf8');
  const section = page.slice(page.indexOf(HEADING) + HEADING.length).split(/^## /m)[0] ?? '';
  return [...section.matchAll(/^\|.*\n\| *-.*\n((?:\|.*\n)+)/gm)].map(([, body = '']) =>
    body.trim().split('\n').map(rowOf),
  );
}

function rowOf(line: string): Row {
  const cells = line.split('|').map((cell) => cell.trim().replaceAll('`', ''));
  const [, request = '', host = '', origin = '', site = '', publicUrl = '', allowed = '', response = ''] = cells;
  const [method = '', path = ''] = request.split(' ');
  const fields = Object.entries({ host, origin, 'sec-fetch-site': site }).filter(([, value]) => value !== '');
  const isOrigin = allowed.includes('://');
  return {
    line,
    method,
    path,
    headers: Object.fromEntries(fields),
    config: {
      publicUrl,
      ...(isOrigin ? { allowedOrigins: [allowed] } : {}),
      ...(allowed === '' || isOrigin ? {} : { allowedHosts: [allowed] }),
    },
    status: Number(response),
  };
}

/** The status for a visitor of this row, and the code if rejected. */
async function outcome(url: string, { method, path, headers }: Row): Promise<readonly [status: number, code?: string]> {
  // A browser does not send a site's cookies to other host names.
  const cookies = headers['host']?.startsWith('evil.') === true ? {} : ADA;
  const reply = await visit(url, { method, path, headers: { ...cookies, ...headers } });
  const text = await reply.text();
  const code = reply.status < 400 ? undefined : /"code":"(\w+)"/.exec(text)?.[1];
  return code === undefined ? [reply.status] : [reply.status, code];
}

function expected({ status }: Row): readonly [status: number, code?: string] {
  const code = CODES[status];
  return code === undefined ? [status] : [status, code];
}

it('docs/security.md has two tables of requests', () => {
  expect(SITE_ROWS.length).toBeGreaterThan(20);
  expect(SERVE_ROWS.length).toBeGreaterThan(5);
});

describe.each([nodeHttpSite('node:http'), expressSite('Express 5', express)])('on $name', (framework) => {
  it.each(SITE_ROWS.map((row) => [row.line, row] as const))('responds as documented: %s', async (_line, row) => {
    const world = await startWorld(framework, row.config);
    world.upstream.willAnswer((exchange) => exchange.json(200, CARD));
    expect(await outcome(world.url, row)).toEqual(expected(row));
    // A rejected request reaches neither agent nor platform.
    if (row.status >= 400) expect(world.upstream.requests).toEqual([]);
  });
});

describe('on agent-bff serve', () => {
  it.each(SERVE_ROWS.map((row) => [row.line, row] as const))('responds as documented: %s', async (_line, row) => {
    const upstream = await RecordingUpstream.start();
    upstream.willAnswer((exchange) => exchange.json(200, CARD));
    const gateway = await serve({
      config: { a2aUrl: `${upstream.origin}/agent`, serviceAuthStrategy: 'demo', ...row.config },
      ports: { identityProviders: { demo: new FakeIdentityProvider('gateway') } },
      host: '127.0.0.1',
      port: 0,
      basePath: '/api',
      graceMs: 0,
      keepAliveTimeoutMs: 0,
      log: () => undefined,
    });
    onTestFinished(async () => {
      await gateway.stop();
      await upstream.close();
    });
    expect(await outcome(gateway.url, row)).toEqual(expected(row));
    if (row.status >= 400) expect(upstream.requests).toEqual([]);
  });
});
