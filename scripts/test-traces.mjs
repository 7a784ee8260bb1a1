// npm run test:traces: the trace of one chat message as a receiver of OTLP gets it, with OpenTelemetry's own instrumentation of
// Node and without. Prints the spans, and fails unless the platform gets one `traceparent`, parents are in order, and the
// attributes are those of the conventions. The packages of OpenTelemetry come into a temporary folder.
import assert from 'node:assert/strict';
import { cpSync, symlinkSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { withSite } from '../test/package/installs/visit.mjs';
import { listen, sendMessage } from '../test/package/site.mjs';
import { ensureBuilt } from './build.mjs';
import { ROOT } from './command.mjs';
import { install, temporaryFolder } from './temporary-site.mjs';

const PACKAGES = [
  '@opentelemetry/api@1.9.1',
  '@opentelemetry/sdk-node@0.223.0',
  '@opentelemetry/auto-instrumentations-node@0.81.2',
];
const AUTOMATIC = '@opentelemetry/auto-instrumentations-node/register';
const BROWSER = { trace: '0af7651916cd43dd8448eb211c80319c', span: 'b7ad6b7169203331' };
const KINDS = ['', 'internal', 'server', 'client'];
/** The attributes that the conventions for HTTP require of a span, by its kind. */
const REQUIRED = {
  server: ['http.request.method', 'url.path', 'url.scheme', 'http.response.status_code'],
  client: ['http.request.method', 'server.address', 'server.port', 'url.full', 'http.response.status_code'],
};
/** The spans of the message from the browser to the platform, by kind and who made them. */
const VARIANTS = [
  {
    name: 'openTelemetry(api), no instrumentation',
    imported: './sdk.mjs',
    own: true,
    chain: ['server agent-bff', 'client agent-bff'],
  },
  {
    name: 'openTelemetry(api) and auto-instrumentation',
    imported: AUTOMATIC,
    own: true,
    chain: ['server instrumentation-http', 'internal agent-bff', 'client agent-bff'],
  },
  {
    name: 'auto-instrumentation alone',
    imported: AUTOMATIC,
    own: false,
    chain: ['server instrumentation-http', 'client instrumentation-undici'],
  },
];

await ensureBuilt('package');
const folder = temporaryFolder('traces');
cpSync(join(ROOT, 'test/package/traces'), folder, { recursive: true });
await install(folder, PACKAGES);
symlinkSync(ROOT, join(folder, 'node_modules/agent-bff'), 'junction');

let received = [];
let whenComplete = () => undefined;
const receiver = await listen(
  createServer(async (request, response) => {
    let text = '';
    for await (const chunk of request) text += chunk;
    for (const { scopeSpans } of JSON.parse(text).resourceSpans ?? [])
      for (const { scope, spans } of scopeSpans)
        received.push(
          ...spans.map((span) => ({
            ...span,
            kind: KINDS[span.kind],
            scope: scope.name.replace(/^@opentelemetry\//, ''),
          })),
        );
    whenComplete();
    response.setHeader('content-type', 'application/json').end('{}');
  }),
);
let traced = [];
const agent = await listen(
  createServer((request, response) => {
    traced = request.rawHeaders.filter(
      (_value, index, all) => all[index - 1]?.toLowerCase() === 'traceparent' && index % 2 === 1,
    );
    request.resume();
    response.setHeader('content-type', 'application/json').end('{"jsonrpc":"2.0","id":1,"result":{"kind":"message"}}');
  }),
);
for (const variant of VARIANTS) await tryVariant(variant);
await agent.close();
await receiver.close();

async function tryVariant({ name, imported, own, chain }) {
  received = [];
  const env = {
    A2A_URL: `${agent.url}/a2a`,
    SERVICE_API_KEY: 'the-key',
    ...(own && { TRACED: '1' }),
    OTEL_TRACES_EXPORTER: 'otlp',
    OTEL_METRICS_EXPORTER: 'none',
    OTEL_LOGS_EXPORTER: 'none',
    OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
    OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
    OTEL_BSP_SCHEDULE_DELAY: '100',
    OTEL_NODE_RESOURCE_DETECTORS: 'none',
    OTEL_NODE_DISABLED_INSTRUMENTATIONS: 'net,dns', // Spans of connections, not of calls.
  };
  await withSite([process.execPath, '--import', imported, 'site.cjs'], { cwd: folder, env }, async (url) => {
    // The outermost span ends last, but batches may arrive in any order.
    const complete = new Promise((resolve) => (whenComplete = () => received.length >= chain.length && resolve()));
    const traceparent = `00-${BROWSER.trace}-${BROWSER.span}-01`;
    const send = (address, init) => fetch(address, { ...init, headers: { ...init.headers, traceparent } });
    assert.match(await sendMessage(url, send), /"result"/);
    await Promise.race([
      complete,
      new Promise((_, reject) =>
        AbortSignal.timeout(10_000).addEventListener('abort', () =>
          reject(new Error(`received ${received.map((span) => span.name).join(', ')}`)),
        ),
      ),
    ]);
  });
  console.log(`\n${name}: traceparent at the platform ${traced.join(' and ')}`);
  let parent = BROWSER.span;
  for (const [depth, expected] of chain.entries()) {
    const span = received.find(({ parentSpanId }) => parentSpanId === parent);
    assert.ok(span, `no span below ${parent}`);
    const attributes = Object.fromEntries(span.attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
    console.log(`${'  '.repeat(depth + 1)}${span.name} (${span.kind}, ${span.scope}) ${JSON.stringify(attributes)}`);
    assert.equal(`${span.kind} ${span.scope}`, expected);
    assert.equal(span.traceId, BROWSER.trace);
    if (span.scope === 'agent-bff')
      for (const key of REQUIRED[span.kind] ?? []) assert.ok(key in attributes, `${span.name} lacks ${key}`);
    parent = span.spanId;
  }
  assert.deepEqual(traced, [`00-${BROWSER.trace}-${parent}-01`], 'one traceparent, of the innermost span');
  assert.equal(received.filter(({ traceId }) => traceId === BROWSER.trace).length, chain.length, 'no further span');
}
