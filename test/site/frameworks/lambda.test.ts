import { configure as codegenie } from '@codegenie/serverless-express';
import { configure as vendia } from '@vendia/serverless-express';
import { createToolkit, type Toolkit } from 'agent-bff';
import { createHandlers } from 'agent-bff/express';
import { RecordingTelemetry } from 'agent-bff/testing';
import express from 'express';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import serverlessHttp from 'serverless-http';
import { RecordingUpstream } from '../../support/recording-upstream.js';
import { MESSAGE } from '../../support/visitor.js';

/** An event of API Gateway, format 2.0. */
type GatewayEvent = Readonly<Record<string, unknown>>;
type LambdaHandler = (event: GatewayEvent, context: object) => Promise<{ statusCode: number; body: string }>;

const ADAPTERS: readonly (readonly [name: string, adapt: (app: express.Express) => LambdaHandler])[] = [
  ['@vendia/serverless-express', (app) => vendia({ app }) as never],
  ['@codegenie/serverless-express', (app) => codegenie({ app }) as never],
  ['serverless-http', (app) => serverlessHttp(app) as never],
];

const event = (method: string, path: string, body?: string): GatewayEvent => ({
  version: '2.0',
  routeKey: '$default',
  rawPath: path,
  rawQueryString: '',
  headers: {
    host: 'site.example',
    origin: 'https://site.example',
    ...(body !== undefined && { 'content-type': 'application/json' }),
  },
  requestContext: { http: { method, path, sourceIp: '192.0.2.1' } },
  body,
  isBase64Encoded: false,
});

describe.each(ADAPTERS)('Express in a Lambda function, by %s', (_name, adapt) => {
  let upstream: RecordingUpstream;
  let toolkit: Toolkit;
  let telemetry: RecordingTelemetry;
  const call = async (method: string, path: string, body?: string): Promise<[status: number, text: string]> => {
    const app = express();
    app.use('/api', createHandlers(express, { toolkit, service: { auth: () => 'token' } }));
    const { statusCode, body: text } = await adapt(app)(event(method, path, body), {});
    return [statusCode, text];
  };

  beforeEach(async () => {
    upstream = await RecordingUpstream.start();
    telemetry = new RecordingTelemetry();
    const { origin } = upstream;
    const addresses = { a2aUrl: `${origin}/a2a`, serviceApiUrl: `${origin}/api`, allowedHosts: ['site.example'] };
    toolkit = createToolkit({ ...addresses, serviceApiKey: 'key', keepAliveMs: 0 }, { telemetry });
    onTestFinished(async () => {
      await upstream.close();
      await toolkit.close();
    });
  });

  it('returns all events of a chat', async () => {
    upstream.willAnswer((exchange) => {
      exchange.eventStream().write('data: one\n\n');
      setImmediate(() => exchange.write('data: two\n\n').end('data: three\n\n'));
    });
    expect(await call('POST', '/api/a2a', MESSAGE)).toEqual([200, 'data: one\n\ndata: two\n\ndata: three\n\n']);
    expect(telemetry.of('stream_ended')).toMatchObject([{ outcome: 'complete' }]);
  });

  it('returns a widget and a record, also a long one, and forwards a body', async () => {
    const long = 'x'.repeat(300_000);
    upstream.willAnswer((exchange) => exchange.json(200, { long, sent: exchange.request.body.toString() }));
    const answer = (sent: string): string => JSON.stringify({ long, sent });
    expect(await call('GET', '/api/service/conversations')).toEqual([200, answer('')]);
    expect(await call('PUT', '/api/service/conversations/1', '{"a":1}')).toEqual([200, answer('{"a":1}')]);
    const [status] = await call('POST', '/api/service-surfaces/counter/render', '{}');
    expect(status).toBe(200);
  });

  it('returns an error, and refuses another host', async () => {
    const [status, text] = await call('POST', '/api/a2a', '{}');
    expect([status, text]).toEqual([400, expect.stringContaining('"jsonrpc":"2.0"')]);
    const app = express();
    app.use('/api', createHandlers(express, { toolkit }));
    const other = { ...event('GET', '/api/a2a/config'), headers: { host: 'evil.example' } };
    expect((await adapt(app)(other, {})).statusCode).toBe(421);
  });
});
