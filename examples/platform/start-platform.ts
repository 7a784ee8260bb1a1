import express from 'express';

import { openListener } from '../http-listener.js';
import { createA2ARouter } from './a2a-router.js';
import { createAgentCardRouter } from './agent-card.js';
import { DemoAgent } from './demo-agent.js';
import { answerBodyErrors } from './body-errors.js';
import { RequestLog, type RecordedRequest } from './request-log.js';
import { ServiceAccounts, type RegisteredKey } from './service-accounts.js';

export interface PlatformOptions {
  /** Default 0: any free port. */
  readonly port?: number;
  /** Default `127.0.0.1`. */
  readonly host?: string;
  /** What the `aud` claim of a service token must contain. Default: the platform's own `serviceApiUrl`. */
  readonly audience?: string;
  /** Keys known from the start; `registerKey` adds more. */
  readonly publicKeys?: readonly RegisteredKey[];
  /** Pause between two words of an answer, in milliseconds. Default 50. */
  readonly wordMs?: number;
  /** Pause between two of the 120 steps of the `slow` task, in milliseconds. Default 300. */
  readonly slowStepMs?: number;
}

export interface Platform {
  readonly url: string;
  /** The agent endpoint: A2A JSON-RPC, v1.0 and v0.3. */
  readonly a2aUrl: string;
  /** The platform API's address, and the audience its service tokens are made for. */
  readonly serviceApiUrl: string;
  /** Requests as they arrived, refused ones too; at most the last 10 000. */
  readonly requests: readonly RecordedRequest[];
  /** Event streams being written right now. */
  readonly openStreams: number;
  /** Makes tokens signed with the other half of this key acceptable when their subject is `subject`. */
  registerKey(kid: string, publicKeyPem: string, subject: string): void;
  /** Ends running tasks and every connection. */
  close(): Promise<void>;
}

/** Starts an agent platform: a small A2A agent that only talks to registered service accounts. */
export async function startPlatform(options: PlatformOptions = {}): Promise<Platform> {
  const { port = 0, host = '127.0.0.1', wordMs = 50, slowStepMs = 300 } = options;

  // The agent card names the platform's address, so the port has to be known before there is anything to serve.
  const listener = await openListener(port, host);
  const url = `http://${host}:${listener.port}`;
  const a2aUrl = `${url}/a2a`;
  const serviceApiUrl = `${url}/api`;

  const accounts = new ServiceAccounts(options.audience ?? serviceApiUrl, options.publicKeys ?? []);
  const log = new RequestLog();
  const agent = new DemoAgent({ wordMs, slowStepMs });

  const app = express();
  app.disable('x-powered-by');
  app.use(log.record);
  app.use('/.well-known/agent-card.json', createAgentCardRouter(a2aUrl));
  // In front of the SDK's own parser, which stops at 100 kB: a message may carry a file.
  app.use(express.json({ limit: '2mb' }));
  app.use('/a2a', accounts.requireToken, log.countStreams, createA2ARouter(agent, a2aUrl));
  app.use(answerBodyErrors);
  listener.server.on('request', app);

  return {
    url,
    a2aUrl,
    serviceApiUrl,
    requests: log.requests,
    get openStreams() {
      return log.openStreams;
    },
    registerKey: (kid, publicKeyPem, subject) => accounts.register({ kid, publicKeyPem, subject }),
    close: async () => {
      agent.stop();
      await listener.close();
    },
  };
}
