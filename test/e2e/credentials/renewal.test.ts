import { setImmediate as nextTurn } from 'node:timers/promises';
import { FakeClock } from 'agent-bff/testing';
import { describe, expect, it } from 'vitest';
import { runIdpA } from '../../support/identity-provider/index.js';
import { failureOf, identityFetch, passwordGrant, startSite } from './credential-site.js';

const { idp, trusting } = await runIdpA({ tokenLifetimeSeconds: 300 });

const CALLERS = 50;
/** Renewal is due when a fifth of the life is left. */
const DUE_MS = 240_000;

async function siteWithToken(config = {}) {
  const clock = new FakeClock(Date.now());
  const site = await startSite({ ...passwordGrant(idp), ...config }, { ports: { ...identityFetch(trusting), clock } });
  expect((await site.chat()).status).toBe(200);
  expect(idp.tokenRequests.count).toBe(1);
  const first = site.toolkit.cachedServiceToken();
  expect(first).toBeDefined();
  return { ...site, clock, isRenewed: () => site.toolkit.cachedServiceToken() !== first };
}

/** The longest time this process was busy with anything: what a call may take longer without waiting for anybody. */
function watchEventLoop(): { longestTurn: () => number; stop: () => void } {
  let longest = 0;
  let last = performance.now();
  let running = true;
  const tick = (): void => {
    const now = performance.now();
    longest = Math.max(longest, now - last);
    last = now;
    if (running) setImmediate(tick);
  };
  setImmediate(tick);
  return { longestTurn: () => longest, stop: () => void (running = false) };
}

describe('a token that is due while fifty callers are busy', { timeout: 20_000 }, () => {
  it('is renewed without a failed call, and without one that takes 100 ms, though the provider takes 300', async () => {
    const { toolkit, clock, isRenewed } = await siteWithToken();
    idp.faults.token = { delayMs: 300 };
    const loop = watchEventLoop();
    const times: number[] = [];
    const values = new Set<string>();
    clock.advance(DUE_MS + 1);
    const callers = Array.from({ length: CALLERS }, async () => {
      // Until the new token is there, and some calls longer.
      for (let after = 0; after < 20; after += isRenewed() ? 1 : 0) {
        const start = performance.now();
        const { authorization = '' } = await toolkit.authHeaders();
        times.push(performance.now() - start);
        values.add(authorization);
        await nextTurn();
      }
    });
    await Promise.all(callers);
    loop.stop();

    expect(idp.tokenRequests.count).toBe(2);
    expect(values.size).toBe(2);
    expect(times.length).toBeGreaterThan(CALLERS * 20);
    expect(Math.max(...times) - loop.longestTurn()).toBeLessThan(100);
  });

  it('holds up no visitor: all are served with the old token while the provider thinks', async () => {
    const { chat, tokens, clock, isRenewed } = await siteWithToken();
    let answer = (): void => undefined;
    idp.faults.token = { until: new Promise((resolve) => (answer = resolve)) };
    clock.advance(DUE_MS + 1);
    const statuses = await Promise.all(
      Array.from({ length: CALLERS }, async () => [(await chat()).status, (await chat()).status]),
    );
    expect(isRenewed()).toBe(false);
    expect(new Set(statuses.flat())).toEqual(new Set([200]));
    expect(tokens()).toHaveLength(1);

    answer();
    await expect.poll(isRenewed, { timeout: 5_000, interval: 20 }).toBe(true);
    expect((await chat()).status).toBe(200);
    expect(tokens()).toHaveLength(2);
    expect(idp.tokenRequests.count).toBe(2);
  });
});

describe('a provider that dies before the renewal and comes back after the token expired', () => {
  it('costs no error while the token lives, then a 401 with a code, and is asked again when it may be back', async () => {
    const { chat, toolkit, agent, clock } = await siteWithToken();
    idp.faults.token = { destroy: true };
    clock.advance(DUE_MS - 5_000);
    for (let at = DUE_MS - 5_000; at < 300_000; at += 1_000) {
      expect((await chat()).status, `${String(at)} ms after the token was issued`).toBe(200);
      clock.advance(1_000);
    }
    expect(idp.tokenRequests.count).toBeGreaterThan(3);
    // A growing back-off: far fewer requests than calls.
    expect(idp.tokenRequests.count).toBeLessThan(12);

    const asked = agent.requests.length;
    const refused = await chat();
    expect(refused.status).toBe(401);
    expect(failureOf(refused)).toMatchObject({
      code: 'identity_provider_unavailable',
      block: 'idpA',
      fields: ['domain'],
      retryable: true,
    });
    expect(refused.headers).toMatchObject({
      'www-authenticate': 'Bearer error="identity_provider_unavailable"',
      'cache-control': 'no-store',
      'retry-after': expect.stringMatching(/^[1-9]\d*$/),
    });
    expect(agent.requests).toHaveLength(asked);
    await expect(toolkit.authHeaders()).rejects.toMatchObject({ code: 'identity_provider_unavailable' });
    expect(toolkit.cachedServiceToken()).toBeUndefined();

    delete idp.faults.token;
    const backOffMs = Number(refused.headers['retry-after']) * 1_000;
    expect(backOffMs).toBeLessThanOrEqual(30_000);
    clock.advance(backOffMs + 1_000);
    expect((await chat()).status).toBe(200);
  });

  it('is told from a refusal by its status where a site wants that', async () => {
    const clock = new FakeClock(Date.now());
    const config = { ...passwordGrant(idp), authUnavailableStatus: 503 } as const;
    const { chat } = await startSite(config, { ports: { ...identityFetch(trusting), clock } });
    idp.faults.token = { status: 503, body: '<h1>Maintenance</h1>', headers: { 'retry-after': '7' } };
    const answer = await chat();
    expect(answer.status).toBe(503);
    expect(answer.headers).toMatchObject({ 'retry-after': '7', 'cache-control': 'no-store' });
    expect(answer.headers['www-authenticate']).toBeUndefined();

    // Left alone for as long as it asked.
    clock.advance(6_000);
    expect((await chat()).status).toBe(503);
    expect(idp.tokenRequests.count).toBe(1);
    delete idp.faults.token;
    clock.advance(1_000);
    expect((await chat()).status).toBe(200);
  });

  it('is asked four times in five seconds by twenty impatient visitors, not four hundred', async () => {
    const clock = new FakeClock(Date.now());
    const { chat } = await startSite(passwordGrant(idp), { ports: { ...identityFetch(trusting), clock } });
    idp.faults.token = { destroy: true };
    for (let second = 0; second < 5; second += 0.25) {
      const answers = await Promise.all(Array.from({ length: 20 }, () => chat()));
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([401]));
      clock.advance(250);
    }
    expect(idp.tokenRequests.count).toBeGreaterThan(1);
    expect(idp.tokenRequests.count).toBeLessThanOrEqual(5);
  });
});

describe('a token with an odd life', () => {
  it.each<[string, (body: Record<string, unknown>) => Record<string, unknown>, number]>([
    ['of a minute', (body) => ({ ...body, expires_in: 60 }), 60],
    ['of a day', (body) => ({ ...body, expires_in: 86_400 }), 86_400],
    ['that its answer does not tell', (body) => ({ ...body, expires_in: undefined }), 300],
    ['in words', (body) => ({ ...body, expires_in: '300' }), 300],
    ['that is over', (body) => ({ ...body, expires_in: -1 }), 300],
  ])('%s is cached like any other', async (_title, transform, lifeSeconds) => {
    idp.faults.token = { transform };
    const { chat, clock } = await siteWithToken();
    clock.advance(Math.min(lifeSeconds * 0.75, lifeSeconds - 125 > 0 ? lifeSeconds - 125 : Infinity) * 1_000);
    expect((await chat()).status).toBe(200);
    expect(idp.tokenRequests.count).toBe(1);
    clock.advance(lifeSeconds * 1_000);
    expect((await chat()).status).toBe(200);
    expect(idp.tokenRequests.count).toBe(2);
  });
});
