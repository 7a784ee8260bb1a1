import { randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import { AgentBffError, createToolkit, rateLimiter, type ServerConfig } from 'agent-bff';
import { createNodeHandler } from 'agent-bff/node';
import { RecordingTelemetry } from 'agent-bff/testing';
import { RateLimiterMemory } from 'rate-limiter-flexible';
import { describe, expect, it, onTestFinished } from 'vitest';
import { closeAll, listening } from '../support/listening.mjs';
import { RecordingUpstream } from '../support/recording-upstream.js';
import { MESSAGE, visit } from '../support/visitor.js';

const DETAIL = 'The plan of this user has ended.';
const WORDS = 'invoice 7 of account 42 is open';
type Routes = NonNullable<Parameters<typeof createNodeHandler>[0]>;

/** A class of the site's own, with its own code. */
class NotPaid extends AgentBffError {
  constructor() {
    const facts = { detail: DETAIL, log: WORDS, upstreamStatus: 402, retryAfterMs: 5_000, rpcCode: -32_042 };
    super('billing.not-paid' as never, facts);
  }
}
const notPaid = (): never => {
  throw new NotPaid();
};

const CHAT = '/api/a2a';
const WIDGET = '/api/service-surfaces/poll/render';
const RECORDS = '/api/service/conversations';
const HTTP_JSON = '/api/a2a/message:send';
const signedIn = () => 'the-token';
const key = { serviceApiKey: 'the-key' };
const cacheKeys = [randomBytes(32).toString('base64')];
const limiter = new RateLimiterMemory({ points: 9, duration: 60 });

/** Functions of a site that a route calls for a visitor, and the routes that call them. */
const FUNCTIONS: Readonly<Record<string, [config: ServerConfig, routes: Routes, paths: readonly string[]]>> = {
  'a session source': [
    { bindings: ['JSONRPC', 'HTTP+JSON'] },
    { a2a: { auth: notPaid }, surfaces: { auth: notPaid }, service: { auth: notPaid } },
    [CHAT, HTTP_JSON, WIDGET, RECORDS],
  ],
  headers: [
    key,
    { a2a: { headers: notPaid }, surfaces: { headers: notPaid }, service: { auth: signedIn, headers: notPaid } },
    [CHAT, WIDGET, RECORDS],
  ],
  getHeaders: [{}, { surfaces: { getHeaders: notPaid } }, [WIDGET]],
  metadata: [key, { a2a: { metadata: { plan: notPaid } } }, [CHAT]],
  visitor: [{ ...key, cacheKeys }, { a2a: { conversations: 'visitor', visitor: notPaid } }, [CHAT]],
  chatLimit: [{ ...key, chatLimit: { admit: notPaid } }, {}, [CHAT]],
  'the visitor of a limiter': [{ ...key, chatLimit: rateLimiter(limiter, { visitor: notPaid }) }, {}, [CHAT]],
  'a limiter': [{ ...key, chatLimit: rateLimiter({ consume: async () => notPaid() }) }, {}, [CHAT]],
  userLimit: [{ userLimit: { admit: notPaid } }, { a2a: { auth: signedIn } }, [CHAT]],
};

describe.each(Object.entries(FUNCTIONS))(
  'an error with a code of the site from %s',
  (_name, [config, routes, paths]) => {
    it.each(paths)('has its status, code and detail at %s, and its words appear in the log only', async (path) => {
      const platform = await RecordingUpstream.start();
      onTestFinished(() => platform.close());
      const telemetry = new RecordingTelemetry();
      const toolkit = createToolkit({
        a2aUrl: `${platform.origin}/a2a`,
        serviceApiUrl: platform.origin,
        telemetry,
        ...config,
      });
      onTestFinished(() => toolkit.close());
      const server = createServer(createNodeHandler({ service: { auth: signedIn }, ...routes, toolkit }));
      onTestFinished(() => closeAll(server));
      const body = path === HTTP_JSON ? JSON.stringify((JSON.parse(MESSAGE) as { params: unknown }).params) : MESSAGE;
      const reply = await visit(await listening(server), path === RECORDS ? { path, method: 'GET' } : { path, body });
      const text = await reply.text();
      expect([reply.status, reply.headers['retry-after'], text.includes(DETAIL)]).toEqual([402, '5', true]);
      expect(text).toContain('billing.not-paid');
      if (path === CHAT) expect(JSON.parse(text)).toMatchObject({ id: 7, error: { code: -32_042, message: DETAIL } });
      expect(text).not.toContain(WORDS);
      expect(telemetry.of('error')).toMatchObject([{ code: 'billing.not-paid', status: 402, detail: WORDS }]);
      expect(platform.requests).toEqual([]);
    });
  },
);
