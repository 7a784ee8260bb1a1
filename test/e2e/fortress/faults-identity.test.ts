import { createToolkit } from 'agent-bff';
import { RecordingTelemetry } from 'agent-bff/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Framework } from '../../site/framework.js';
import { startWorld } from '../../site/world.js';
import { type Fault, runIdpA } from '../../support/identity-provider/index.js';
import { RecordingUpstream } from '../../support/recording-upstream.js';
import { type Reply, visit } from '../../support/visitor.js';
import { identityFetch, passwordGrant } from '../credentials/credential-site.js';
import { HOSTS, RECORD, startSite } from './roads.js';

const { idp, trusting } = await runIdpA();

/** A site whose service user signs in at the identity provider. */
async function startGrantSite(host: Framework) {
  const agent = await RecordingUpstream.start();
  const telemetry = new RecordingTelemetry();
  const toolkit = createToolkit(
    { ...passwordGrant(idp), a2aUrl: `${agent.origin}/a2a`, keepAliveMs: 0, timeouts: { identityProviderMs: 1_000 } },
    { telemetry, random: () => 0, ...identityFetch(trusting) },
  );
  const site = await host.start({ toolkit });
  onTestFinished(async () => {
    await site.close();
    await agent.close();
    await toolkit.close();
  });
  return { agent, telemetry, chat: (): Promise<Reply> => visit(site.url) };
}

const FAULTS: readonly (readonly [string, Fault])[] = [
  ['never answers', { hang: true }],
  ['ends the connection', { destroy: true }],
  ['is out of order', { status: 503, body: 'down for maintenance' }],
  ['answers 200 with a page', { status: 200, body: '<h1>hello</h1>' }],
  ['answers 200 with half a JSON text', { transform: () => '{"access_token":"tok' }],
];

describe.each(HOSTS)('through $name, an identity provider that', (host) => {
  it.each(FAULTS)(
    '%s is a 401 that tells when to come again, and is asked once for all who wait',
    async (_what, fault) => {
      const site = await startGrantSite(host);
      idp.faults.token = fault;
      const replies = await Promise.all([1, 2, 3].map(() => site.chat()));
      for (const reply of replies) {
        expect(reply.status).toBe(401);
        expect(Number(reply.headers['retry-after'])).toBeGreaterThan(0);
        const { error } = await reply.json<{ error: { data: { metadata: Record<string, string> }[] } }>();
        const { metadata } = error.data[0] ?? { metadata: {} };
        expect(metadata).toMatchObject({ code: 'identity_provider_unavailable', retryable: 'true' });
      }
      expect(site.agent.requests).toEqual([]);
      expect(site.telemetry.of('token')).toMatchObject([{ outcome: 'backoff' }]);
      delete idp.faults.token;
      // The provider is left alone for a moment first.
      await expect.poll(async () => (await site.chat()).status, { timeout: 5_000 }).toBe(200);
    },
  );

  it('asks for a pause has it told to the browser', async () => {
    const site = await startGrantSite(host);
    idp.faults.token = { status: 429, body: { error: 'too_many_requests' }, headers: { 'retry-after': '7' } };
    const reply = await site.chat();
    expect([reply.status, reply.headers['retry-after']]).toEqual([401, '7']);
    await site.chat();
    expect(site.telemetry.of('token')).toHaveLength(1);
  });

  it('is down while a token is still valid costs nobody anything', async () => {
    const world = await startWorld(host);
    await (await world.chat()).text();
    world.provider.answer = () => Promise.reject(new Error('down'));
    for (let count = 0; count < 3; count += 1) expect((await world.chat()).status).toBe(200);
    expect(world.telemetry.of('error')).toEqual([]);
  });
});

describe.each(HOSTS)('through $name, a platform that refuses', (host) => {
  it.each([401, 403])(
    "a user's own token by %i is passed on, without its challenge, and asked once",
    async (status) => {
      const world = await startSite(host);
      world.upstream.willAnswer((exchange) =>
        exchange.json(status, {}, { 'www-authenticate': 'Bearer realm="inner"' }),
      );
      const reply = await world.chat(RECORD.visit);
      expect(reply.status).toBe(status);
      expect(reply.headers).not.toHaveProperty('www-authenticate');
      expect(world.upstream.requests).toHaveLength(1);
    },
  );

  it('the service token gets one new token, and a second refusal is a 401 that names the block', async () => {
    const world = await startWorld(host);
    world.upstream.willAnswer((exchange) => exchange.json(401, {}));
    const reply = await world.chat();
    expect(reply.status).toBe(401);
    expect(await reply.text()).toContain('service_token_rejected');
    expect([world.upstream.requests.length, world.provider.issued]).toEqual([2, 2]);
    world.upstream.willAnswerAgain();
    expect((await world.chat()).status).toBe(200);
  });
});
