import express from 'express';

import { openListener } from '../http-listener.js';
import { createA2ARouter } from './a2a-router.js';
import { requireToken } from './access/require-token.js';
import { ServiceAccounts, type RegisteredKey } from './access/service-accounts.js';
import { type TrustedIssuer, TrustedIssuers } from './access/trusted-issuers.js';
import { createAgentCardRouter } from './agent-card.js';
import { createApiRouter } from './api-router.js';
import { answerBodyErrors } from './body-errors.js';
import { ConversationRecords } from './conversations/conversation-records.js';
import { DemoAgent } from './demo-agent.js';
import { type RecordedRequest, type RequestCount, RequestLog } from './request-log.js';
import { Notes } from './surfaces/notes.js';
import { Poll } from './surfaces/poll.js';

export interface PlatformOptions {
  /** Default 0: any free port. */
  readonly port?: number;
  /** Default `127.0.0.1`. */
  readonly host?: string;
  /** The required value in the `aud` claim of a token. Default: the platform's own `serviceApiUrl`. */
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
  /** The platform API's address, which is also the audience of tokens. */
  readonly serviceApiUrl: string;
  /** Requests as received, including rejected ones; at most the last 10 000. */
  readonly requests: readonly RecordedRequest[];
  /** The same, counted by method and path, the latest first; at most the last 200 different ones. */
  readonly requestCounts: readonly RequestCount[];
  /** Requests since the start. */
  readonly requestTotal: number;
  /** Number of event streams being written. */
  readonly openStreams: number;
  /** Registers a key: accepts tokens signed with its other half for `subject`. */
  registerKey(kid: string, publicKeyPem: string, subject: string): void;
  /** Accepts access tokens that this OpenID provider issued to its users for the platform. */
  trustIssuer(issuer: TrustedIssuer): void;
  /** Changes the poll, like an editor of the platform. Throws RangeError if the text is empty or too long. */
  setPollQuestion(text: string): void;
  /** Ends running tasks and every connection. */
  close(): Promise<void>;
}

/** Starts an agent platform: an A2A agent, widgets and conversation records, for registered service accounts and for users. */
export async function startPlatform(options: PlatformOptions = {}): Promise<Platform> {
  const { port = 0, host = '127.0.0.1', wordMs = 50, slowStepMs = 300 } = options;

  // The agent card contains the platform's address, so the port has to be known first.
  const listener = await openListener(port, host);
  const url = `http://${host}:${listener.port}`;
  const a2aUrl = `${url}/a2a`;
  const serviceApiUrl = `${url}/api`;

  const audience = options.audience ?? serviceApiUrl;
  const accounts = new ServiceAccounts(audience, options.publicKeys ?? []);
  const issuers = new TrustedIssuers(audience);
  const authenticate = requireToken(accounts, issuers);
  const log = new RequestLog();
  const records = new ConversationRecords();
  const agent = new DemoAgent({ wordMs, slowStepMs }, records);
  const poll = new Poll();

  const app = express();
  app.disable('x-powered-by');
  app.use(log.record);
  app.use('/.well-known/agent-card.json', createAgentCardRouter(a2aUrl));
  // Before the SDK's own parser, which is limited to 100 kB: a message may include a file.
  app.use(express.json({ limit: '2mb' }));
  app.use('/a2a', authenticate, log.countStreams, createA2ARouter(agent, a2aUrl));
  app.use('/api', authenticate, createApiRouter([poll, new Notes()], records));
  app.use(answerBodyErrors);
  listener.server.on('request', app);

  return {
    url,
    a2aUrl,
    serviceApiUrl,
    requests: log.requests,
    get requestCounts() {
      return log.counts;
    },
    get requestTotal() {
      return log.total;
    },
    get openStreams() {
      return log.openStreams;
    },
    registerKey: (kid, publicKeyPem, subject) => accounts.register({ kid, publicKeyPem, subject }),
    trustIssuer: (issuer) => issuers.trust(issuer),
    setPollQuestion: (text) => poll.setQuestion(text),
    close: async () => {
      agent.stop();
      await listener.close();
    },
  };
}
