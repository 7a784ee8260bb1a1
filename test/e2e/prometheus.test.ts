import * as api from '@opentelemetry/api';
import { PrometheusExporter } from '@opentelemetry/exporter-prometheus';
import { MeterProvider } from '@opentelemetry/sdk-metrics';
import { createToolkit, openTelemetry } from 'agent-bff';
import { createNodeHandler } from 'agent-bff/node';
import { FakeUpstream } from 'agent-bff/testing';
import { spawn } from 'node:child_process';
import { accessSync, constants, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listeningSite } from '../site/frameworks/listening-site.js';
import { blocks, ROOT } from '../support/documents.js';
import { freePort } from '../support/free-port.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const PROMETHEUS = [
  process.env['PROMETHEUS_PATH'] ?? '',
  ...(process.env['PATH'] ?? '').split(delimiter).map((folder) => join(folder, 'prometheus')),
].find((path) => {
  try {
    accessSync(path, constants.X_OK);
    return path !== '';
  } catch {
    return false;
  }
});

const QUERIES = blocks(readFileSync(join(ROOT, 'docs/telemetry.md'), 'utf8')).filter(
  ({ language }) => language === 'promql',
);

const MESSAGE = { jsonrpc: '2.0', id: 1, method: 'message/send', params: {} };

/** The agent: one stream that stays open, errors, and normal responses. */
const upstream = new FakeUpstream(({ path, body }) => {
  if (path.includes('broken')) return { kind: 'failure', reason: 'unreachable', log: 'ECONNREFUSED' };
  if (!Buffer.from(body as Uint8Array).includes('message/stream'))
    return { status: 200, headers: { 'content-type': 'application/json' }, body: '{}' };
  const events = new ReadableStream<Uint8Array>({ start: (controller) => controller.enqueue(Buffer.from(':\n\n')) });
  return { status: 200, headers: { 'content-type': 'text/event-stream' }, body: events };
});

const ends: (() => unknown)[] = [];
afterAll(() => Promise.all(ends.map((end) => end())));

describe.skipIf(PROMETHEUS === undefined)('the queries of docs/telemetry.md on a Prometheus server', () => {
  let prometheus = '';

  beforeAll(async () => {
    const exported = await freePort('127.0.0.1');
    const reader = new PrometheusExporter({ host: '127.0.0.1', port: exported });
    api.metrics.setGlobalMeterProvider(new MeterProvider({ readers: [reader] }));
    ends.push(() => reader.shutdown());
    const telemetry = openTelemetry(api);
    const config = { serviceApiKey: 'key', serviceApiUrl: 'https://platform.example', telemetry };
    const toolkit = createToolkit({ ...config, a2aUrl: 'https://agent.example:8443/a2a' }, { upstream });
    const broken = createToolkit({ ...config, a2aUrl: 'https://agent.example:8443/broken' }, { upstream });
    const sites = await Promise.all(
      [toolkit, broken].map((each) => listeningSite(createNodeHandler({ toolkit: each }))),
    );
    const [url = '', brokenUrl = ''] = sites.map((site) => `${site.url}/api/a2a`);
    ends.push(() => Promise.all(sites.map(({ close }) => close())));

    const folder = temporaryFolder('prometheus');
    const port = await freePort('127.0.0.1');
    prometheus = `http://127.0.0.1:${String(port)}`;
    const scrape = { job_name: 'site', static_configs: [{ targets: [`127.0.0.1:${String(exported)}`] }] };
    const settings = { global: { scrape_interval: '200ms', scrape_timeout: '200ms' }, scrape_configs: [scrape] };
    writeFileSync(join(folder, 'prometheus.yml'), JSON.stringify(settings));
    const child = spawn(
      PROMETHEUS ?? '',
      [
        `--config.file=${join(folder, 'prometheus.yml')}`,
        `--storage.tsdb.path=${join(folder, 'data')}`,
        `--web.listen-address=127.0.0.1:${String(port)}`,
      ],
      { stdio: 'ignore' },
    );
    ends.push(() => child.kill());

    // Rates need two scrapes that differ.
    const send = (to: string, method: string) =>
      fetch(to, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ ...MESSAGE, method }),
      });
    const stream = (await send(url, 'message/stream')).body?.getReader();
    await stream?.read();
    ends.unshift(() => stream?.cancel());
    const busy = setInterval(() => {
      for (const to of [url, brokenUrl]) send(to, 'message/send').catch(() => undefined);
    }, 50);
    ends.push(() => clearInterval(busy));
  }, 30_000);

  /** Waits for a result that is a number. */
  async function asked(query: string): Promise<readonly { metric: object; value: number }[]> {
    for (;;) {
      const reply = await fetch(`${prometheus}/api/v1/query?query=${encodeURIComponent(query)}`).catch(() => undefined);
      if (reply !== undefined && reply.status !== 503) {
        const { status, error, data } = (await reply.json()) as {
          status: string;
          error?: string;
          data?: { result: readonly { metric: object; value: [number, string] }[] };
        };
        if (status !== 'success') throw new Error(error);
        const found = data?.result.map(({ metric, value: [, value] }) => ({ metric, value: Number(value) })) ?? [];
        if (found.some(({ value }) => value > 0)) return found;
      }
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }

  it('return the series that the document describes', { timeout: 30_000 }, async () => {
    const found = await Promise.all(QUERIES.map(({ code }) => asked(code)));
    expect(found).toEqual([
      [{ metric: { agent_bff_route: 'chat' }, value: expect.any(Number) }],
      [{ metric: { error_type: 'upstream_unreachable' }, value: expect.any(Number) }],
      [{ metric: { agent_bff_route: 'chat' }, value: 1 }],
      [{ metric: { server_address: 'agent.example' }, value: expect.any(Number) }],
    ]);
  });
});
