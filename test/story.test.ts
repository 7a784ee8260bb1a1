import { configureServer } from 'agent-bff';
import { createA2ARouter } from 'agent-bff/express';
import express from 'express';
import { decodeJwt, importSPKI, jwtVerify } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listeningSite } from './site/frameworks/listening-site.js';
import type { Site } from './site/framework.js';
import { RecordingUpstream } from './support/recording-upstream.js';
import { newServiceAccountKey } from './support/service-account.js';
import { visit } from './support/visitor.js';

describe('the story of a website that talks to an agent', () => {
  let agent: RecordingUpstream;
  let site: Site;
  let keys: Awaited<ReturnType<typeof newServiceAccountKey>>;

  beforeAll(async () => {
    agent = await RecordingUpstream.start();
    // The private key stays on the site. The public key is registered at the platform.
    keys = await newServiceAccountKey();
  });
  afterAll(async () => {
    await site.close();
    await agent.close();
  });

  it('a site configures the address of its agent and its own identity', async () => {
    configureServer({
      a2aUrl: `${agent.origin}/a2a`,
      serviceApiUrl: 'https://platform.example/api',
      serviceAccount: { serviceAccountId: 'shop', keyId: 'key-1', privateKeyPem: keys.privateKey },
    });
    const app = express();
    app.use(express.json({ limit: '2mb' }));
    app.use('/api/a2a', createA2ARouter(express, { strategy: 'service_account' }));
    site = await listeningSite(app);
  });

  it('a visitor sends a message, and the answer streams in while the agent is still working', async () => {
    agent.willWait();
    const pending = visit(site.url);
    const question = await agent.next();
    const answer = await (question.eventStream(), pending);

    question.write('data: {"text":"Let me"}\n\n');
    expect(await answer.until('Let me')).not.toContain('think');
    question.end('data: {"text":" think."}\n\n');
    expect(await answer.text()).toBe('data: {"text":"Let me"}\n\ndata: {"text":" think."}\n\n');
  });

  it('the agent receives a token that the site signed for five minutes, and no cookie of the visitor', async () => {
    agent.willAnswerAgain();
    await visit(site.url, { headers: { cookie: 'session=1', authorization: 'Bearer of-the-visitor' } });
    const fields = Object.fromEntries(agent.requests.at(-1)?.fields ?? []);
    expect(fields).not.toHaveProperty('cookie');

    const token = (fields['authorization'] ?? '').replace('Bearer ', '');
    const registered = await importSPKI(keys.publicKey, 'RS256');
    await jwtVerify(token, registered, { issuer: 'shop', subject: 'shop', audience: 'https://platform.example/api' });
    const { iat = 0, exp = 0 } = decodeJwt(token);
    expect(exp - iat).toBe(300);
  });

  it('the key goes missing, and the response names the field to set but no secret', async () => {
    configureServer({ serviceAccount: { privateKeyPem: '' } });
    const answer = await visit(site.url);
    expect(answer.status).toBe(401);
    const { error } = await answer.json<{ error: { message: string } }>();
    expect(error.message).toBe(
      'The configuration of the service credential is incomplete. ' +
        'Set "privateKeyPem" or "privateKeyPath" in the "serviceAccount" configuration block.',
    );
  });

  it('the key is restored, and the next message works without a restart', async () => {
    configureServer({ serviceAccount: { privateKeyPem: keys.privateKey } });
    expect((await visit(site.url)).status).toBe(200);
  });
});
