import { jsonRpcHandler, UserBuilder } from '@a2a-js/sdk/server/express';
import { jsonRpcHandler as jsonRpcHandler03, UserBuilder as UserBuilder03 } from 'a2a-sdk-0.3/server/express';
import { A2AExpressApp } from 'a2a-sdk-0.2/server';
import express, { type ErrorRequestHandler, type RequestHandler } from 'express';
import { listeningSite } from '../../site/frameworks/listening-site.js';
import type { Reading } from './reading.js';
import type { ReadingServer } from './reading-server.js';

type Report = (reading: Pick<Reading, 'method' | 'push'>) => void;
/** The methods that the transports of all generations call, each with its own types. */
type Handler<Generation> = Generation extends { requestHandler: infer Known } ? Known : never;

/** The servers of the JavaScript SDK. Each generation has its own parser and reads params differently. */
export const sdkReaders: readonly ReadingServer[] = [
  sdkReader('a2a-js-1.3', ['A2A-Version: 1.0'], sdk13),
  sdkReader('a2a-js-1.3-as-0.3', [], sdk13),
  sdkReader('a2a-js-0.3', [], (report) =>
    jsonRpcHandler03({
      requestHandler: recorder<Handler<Parameters<typeof jsonRpcHandler03>[0]>>('pushNotificationConfig', report),
      userBuilder: UserBuilder03.noAuthentication,
    }),
  ),
  sdkReader('a2a-js-0.2', [], (report) => {
    type Handler02 = ConstructorParameters<typeof A2AExpressApp>[0];
    const routes = new A2AExpressApp(recorder<Handler02>('pushNotificationConfig', report));
    // It has its own Express 4 with other types.
    return routes.setupRoutes(express() as never) as unknown as RequestHandler;
  }),
];

function sdk13(report: Report): RequestHandler {
  return jsonRpcHandler({
    requestHandler: recorder<Handler<Parameters<typeof jsonRpcHandler>[0]>>('taskPushNotificationConfig', report),
    userBuilder: UserBuilder.noAuthentication,
    legacyCompat: { enabled: true },
  });
}

function sdkReader(
  reader: string,
  fields: readonly string[],
  routes: (report: Report) => RequestHandler,
): ReadingServer {
  return {
    reader,
    fields,
    start: (report) => {
      const app = express();
      app.use(routes(report));
      app.use(quiet);
      return listeningSite(app);
    },
  };
}

/** Replaces Express's error handler, which would print every rejection. */
const quiet: ErrorRequestHandler = (_error, _request, response, _next) => {
  response.status(400).end();
};

const CARD = {
  name: 'Recorder',
  version: '1',
  capabilities: { streaming: true, pushNotifications: true, extensions: [] },
  supportedInterfaces: ['1.0', '0.3'].map((protocolVersion) => ({ protocolBinding: 'JSONRPC', protocolVersion })),
};
const MESSAGE = { kind: 'message', messageId: 'message-1', role: 1, parts: [], extensions: [], referenceTaskIds: [] };
const METHODS: Readonly<Record<string, string>> = {
  sendMessageStream: 'SendStreamingMessage',
  resubscribe: 'SubscribeToTask',
};

/** A request handler that reports each method a transport calls, and if its params have a webhook. */
function recorder<Known>(pushName: string, report: Report): Known {
  const note = (name: string, params: unknown): void => {
    const { configuration } = (params ?? {}) as { configuration?: Readonly<Record<string, unknown>> | null };
    const method = METHODS[name] ?? `${name.charAt(0).toUpperCase()}${name.slice(1)}`;
    report({ method, push: (configuration?.[pushName] ?? null) !== null });
  };
  const methodOf = (name: string): unknown => {
    if (name === 'getAgentCard') return () => Promise.resolve(CARD);
    if (name in METHODS) {
      return async function* (params: unknown) {
        note(name, params);
        yield { ...MESSAGE, payload: { $case: 'message', value: MESSAGE } };
      };
    }
    return (params: unknown) => {
      note(name, params);
      return Promise.resolve({ ...MESSAGE, tasks: [], configs: [] });
    };
  };
  return new Proxy({}, { get: (_target, name) => methodOf(String(name)) }) as Known;
}
