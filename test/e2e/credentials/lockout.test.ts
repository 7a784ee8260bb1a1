import { configureServer } from 'agent-bff';
import { createA2ARouter } from 'agent-bff/express';
import { FakeClock } from 'agent-bff/testing';
import express from 'express';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listeningSite } from '../../site/frameworks/listening-site.js';
import { runIdpA, startIdpA, type IdpA } from '../../support/identity-provider/index.js';
import { RecordingUpstream } from '../../support/recording-upstream.js';
import { chatAt, failureOf, identityFetch, passwordGrant, startSite } from './credential-site.js';

const WRONG = 'a-password-somebody-mistyped';

const { idp, trusting } = await runIdpA();

describe('a wrong password of the service user', () => {
  const wrongPassword = () => ({
    ...passwordGrant(idp),
    idpAServiceUser: { username: idp.user.username, password: WRONG },
  });

  it('is tried at most twice by 200 requests in five seconds, and each of them says what to mend', async () => {
    const clock = new FakeClock(Date.now());
    const { chat, agent } = await startSite(wrongPassword(), { ports: { ...identityFetch(trusting), clock } });
    for (let request = 0; request < 200; request += 1) {
      const answer = await chat();
      expect(answer.status).toBe(401);
      expect(failureOf(answer)).toMatchObject({
        code: 'service_auth_failed',
        block: 'idpAServiceUser',
        fields: ['username', 'password'],
        retryable: false,
      });
      clock.advance(25);
    }
    expect(idp.tokenRequests.count).toBeLessThanOrEqual(2);
    expect(agent.requests).toEqual([]);
  });
});

describe('a password that is corrected', () => {
  // `configureServer` takes no custom fetch, so this provider speaks http, which is allowed on this machine only.
  let plain: IdpA;
  let agent: RecordingUpstream;

  beforeAll(async () => {
    plain = await startIdpA({ insecure: true });
    agent = await RecordingUpstream.start();
  });
  afterAll(async () => {
    await agent.close();
    await plain.close();
  });

  it('works with the next request after configureServer, while the wrong one would still rest', async () => {
    configureServer({
      ...passwordGrant(plain),
      a2aUrl: `${agent.origin}/a2a`,
      idpA: { ...passwordGrant(plain).idpA, domain: plain.issuer },
      idpAServiceUser: { username: plain.user.username, password: WRONG },
    });
    const app = express();
    app.use('/api/a2a', createA2ARouter(express));
    const site = await listeningSite(app);

    const refused = await Promise.all(Array.from({ length: 200 }, () => chatAt(site.url)));
    expect(new Set(refused.map(({ status }) => status))).toEqual(new Set([401]));
    expect(plain.tokenRequests.count).toBeLessThanOrEqual(2);

    configureServer({ idpAServiceUser: { password: plain.user.password } });
    expect((await chatAt(site.url)).status).toBe(200);
    expect(plain.tokenRequests.count).toBeLessThanOrEqual(3);

    // The wrong one again is tried once: it may be right by now.
    const before = plain.tokenRequests.count;
    for (let call = 0; call < 5; call += 1) {
      configureServer({ idpAServiceUser: { password: WRONG } });
      expect((await chatAt(site.url)).status).toBe(401);
    }
    expect(plain.tokenRequests.count).toBe(before + 1);
    await site.close();
  });

  it('at the provider works with the next request after configureServer, whatever that sets', async () => {
    configureServer({
      ...passwordGrant(plain),
      a2aUrl: `${agent.origin}/a2a`,
      idpA: { ...passwordGrant(plain).idpA, domain: plain.issuer, scope: 'read' },
    });
    const app = express();
    app.use('/api/a2a', createA2ARouter(express));
    const site = await listeningSite(app);
    plain.faults.token = { status: 403, body: { error: 'invalid_grant', error_description: 'Wrong password.' } };
    expect((await chatAt(site.url)).status).toBe(401);
    delete plain.faults.token;
    expect((await chatAt(site.url)).status).toBe(401);
    configureServer({});
    expect((await chatAt(site.url)).status).toBe(200);
    await site.close();
  });
});
