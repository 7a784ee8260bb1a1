import { FakeClock, FakeIdentityProvider } from 'agent-bff/testing';
import { decodeJwt } from 'jose';
import { describe, expect, it } from 'vitest';
import { runIdpA } from '../../support/identity-provider/index.js';
import { newServiceAccountKey } from '../../support/service-account.js';
import type { Exchange } from '../../support/recording-upstream.js';
import { bearerOf, failureOf, identityFetch, passwordGrant, startSite } from './credential-site.js';

const { idp, trusting } = await runIdpA();
const { privateKey: privateKeyPem } = await newServiceAccountKey();
const serviceAccount = () => ({ serviceAccount: { serviceAccountId: 'site-1', keyId: 'key-1', privateKeyPem } });

/** A platform with a clock of its own that checks the dates of a token as strictly as it may. */
function strictPlatform(aheadMs: number) {
  return (exchange: Exchange): void => {
    const now = Date.now() + aheadMs;
    const { iat = 0, exp = 0 } = decodeJwt(bearerOf(exchange.request));
    const valid = iat * 1_000 <= now + 1_000 && now < exp * 1_000;
    const headers = { date: new Date(now).toUTCString() };
    const { id } = JSON.parse(exchange.request.body.toString()) as { id: unknown };
    if (valid) exchange.json(200, { jsonrpc: '2.0', id, result: {} }, headers);
    else exchange.json(401, { error: 'token from another time' }, headers);
  };
}

describe('a platform whose clock differs', () => {
  it.each([
    ['behind', -90_000, 'The local clock is 90 s ahead of the platform'],
    ['ahead by more than a token lives', 400_000, 'The local clock is 400 s behind the platform'],
  ])('%s is named in the log, and the token is signed again once by its clock', async (_name, aheadMs, words) => {
    const { chat, agent, telemetry } = await startSite(serviceAccount());
    agent.willAnswer(strictPlatform(aheadMs));
    expect((await chat()).status).toBe(200);
    expect(agent.requests).toHaveLength(2);
    const warnings = telemetry.of('warning').filter(({ code }) => code === 'clock_skew');
    expect(warnings).toHaveLength(1);
    // Dates count whole seconds.
    expect(
      warnings[0]?.detail.replace(/(\d+) s/, (_, seconds) => `${String(Math.round(Number(seconds) / 10) * 10)} s`),
    ).toContain(words);

    // From now on the first signature is right.
    expect((await chat()).status).toBe(200);
    expect(agent.requests).toHaveLength(3);
    expect(telemetry.of('warning')).toHaveLength(1);
  });

  it('a little is not blamed for a refusal', async () => {
    const { chat, agent, telemetry } = await startSite(serviceAccount());
    agent.willAnswer((exchange) => exchange.json(401, {}, { date: new Date(Date.now() + 20_000).toUTCString() }));
    expect(failureOf(await chat()).code).toBe('service_token_rejected');
    expect(telemetry.of('warning')).toEqual([]);
  });
});

describe('a token the platform refuses', () => {
  it('is renewed once, and the same message is sent with the new one', async () => {
    const { chat, agent, tokens } = await startSite(passwordGrant(idp), { ports: identityFetch(trusting) });
    agent.willAnswer((exchange) => {
      if (agent.requests.length === 1) exchange.json(401, {});
      else exchange.json(200, { jsonrpc: '2.0', id: 7, result: {} });
    });
    expect((await chat()).status).toBe(200);
    expect(idp.tokenRequests.count).toBe(2);
    expect(tokens()).toHaveLength(2);
    expect(agent.requests[0]?.body.equals(agent.requests[1]?.body ?? Buffer.alloc(0))).toBe(true);
  });

  it('also after the renewal is an answer of our own with a hint, and no storm of renewals', async () => {
    const clock = new FakeClock(Date.now());
    const { chat, agent } = await startSite(passwordGrant(idp), { ports: { ...identityFetch(trusting), clock } });
    agent.willAnswer((exchange) =>
      exchange.json(401, { secret: 'of the platform' }, { 'www-authenticate': 'Bearer realm="inner"' }),
    );
    const answer = await chat();
    expect(answer.status).toBe(401);
    expect(failureOf(answer)).toMatchObject({ code: 'service_token_rejected', block: 'idpA' });
    expect(failureOf(answer).message).toContain('audience');
    expect(answer.headers).toMatchObject({
      'www-authenticate': 'Bearer error="service_token_rejected"',
      'cache-control': 'no-store',
    });
    expect(answer.body).not.toContain('of the platform');

    for (let second = 0; second < 20; second += 1) {
      clock.advance(1_000);
      expect((await chat()).status).toBe(401);
    }
    expect(idp.tokenRequests.count).toBeLessThanOrEqual(3);
  });

  it('with 403 is an answer of our own with a hint, and renews nothing', async () => {
    const { chat, agent, telemetry } = await startSite(passwordGrant(idp), { ports: identityFetch(trusting) });
    agent.willAnswer((exchange) => exchange.json(403, { reason: 'role' }));
    const answer = await chat();
    expect(answer.status).toBe(403);
    expect(failureOf(answer)).toMatchObject({ code: 'service_token_rejected', block: 'idpA' });
    expect(failureOf(answer).message).toContain('role that is needed');
    expect(answer.headers).not.toHaveProperty('www-authenticate');
    expect(telemetry.of('error')).toMatchObject([
      { status: 403, detail: 'status 403 from the agent, application/json: {"reason":"role"}' },
    ]);
    expect(idp.tokenRequests.count).toBe(1);
  });
});

describe('every 401 of the chat route', () => {
  const refused = () => ({
    kind: 'failure' as const,
    reason: 'refused' as const,
    block: 'okta',
    fields: ['secret'],
    advice: 'Check "okta".',
    detail: 'no',
  });

  it.each([
    ['no configuration', {}, 'service_auth_failed'],
    ['an empty block', { serviceAuthStrategy: 'service_account' }, 'service_auth_failed'],
    ['a refused credential', { serviceAuthStrategy: 'okta' }, 'service_auth_failed'],
  ])('carries a challenge and is stored by nobody: %s', async (_name, config, code) => {
    const okta = new FakeIdentityProvider('okta');
    okta.answer = refused;
    const { chat } = await startSite(config, { ports: { identityProviders: { okta } } });
    expect(await chat()).toMatchObject({
      status: 401,
      headers: { 'www-authenticate': `Bearer error="${code}"`, 'cache-control': 'no-store' },
    });
  });

  it.each([
    ['nobody is signed in', () => null, 'session_required'],
    ['the session is over', () => ({ kind: 'expired' as const }), 'session_expired'],
  ])('carries a challenge and is stored by nobody: %s', async (_name, found, code) => {
    const { chat, agent } = await startSite(serviceAccount(), {
      routes: [{ getSessionToken: (_request: unknown) => found() }],
    });
    expect(await chat()).toMatchObject({
      status: 401,
      headers: { 'www-authenticate': `Bearer error="${code}"`, 'cache-control': 'no-store' },
    });
    expect(agent.requests).toEqual([]);
  });
});
