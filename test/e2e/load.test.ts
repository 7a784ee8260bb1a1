import { createToolkit } from 'agent-bff';
import { RecordingTelemetry } from 'agent-bff/testing';
import express from 'express';
import { importSPKI, jwtVerify } from 'jose';
import { describe, expect, it, onTestFinished } from 'vitest';
import { expressSite } from '../site/frameworks/express.js';
import { RecordingUpstream } from '../support/recording-upstream.js';
import { newServiceAccountKey } from '../support/service-account.js';
import { visit } from '../support/visitor.js';

async function startSite() {
  const upstream = await RecordingUpstream.start();
  const { privateKey, publicKey } = await newServiceAccountKey();
  const telemetry = new RecordingTelemetry();
  const toolkit = createToolkit(
    {
      a2aUrl: `${upstream.origin}/a2a`,
      serviceApiUrl: 'https://platform.example/api/',
      serviceAuthStrategy: 'service_account',
      serviceAccount: { serviceAccountId: 'site-1', keyId: 'key-1', privateKeyPem: privateKey },
    },
    { telemetry },
  );
  const site = await expressSite('a site', express, { json: true }).start({ toolkit });
  onTestFinished(async () => {
    await site.close();
    await upstream.close();
    await toolkit.close();
  });
  const chat = async (): Promise<number> => {
    const reply = await visit(site.url);
    await reply.text();
    return reply.status;
  };
  const tokens = (): string[] => [
    ...new Set(
      upstream.requests.flatMap(({ fields }) =>
        fields.flatMap(([name, value]) => (name === 'authorization' ? [value.replace('Bearer ', '')] : [])),
      ),
    ),
  ];
  return { upstream, telemetry, publicKey, chat, tokens };
}

const atOnce = (count: number, work: () => Promise<number>): Promise<number[]> =>
  Promise.all(Array.from({ length: count }, work));

describe('a rush of visitors', { timeout: 30_000 }, () => {
  it('1,000 first messages at once cost one signature, and an independent verifier accepts it', async () => {
    const { upstream, telemetry, publicKey, chat, tokens } = await startSite();
    const statuses = await atOnce(1_000, chat);

    expect(new Set(statuses)).toEqual(new Set([200]));
    expect(upstream.requests).toHaveLength(1_000);
    expect(tokens()).toHaveLength(1);
    expect(telemetry.of('token')).toMatchObject([{ outcome: 'acquired', block: 'serviceAccount' }]);

    const { payload, protectedHeader } = await jwtVerify(tokens()[0] ?? '', await importSPKI(publicKey, 'RS256'), {
      audience: 'https://platform.example/api',
      issuer: 'site-1',
      subject: 'site-1',
    });
    expect(protectedHeader).toMatchObject({ alg: 'RS256', kid: 'key-1' });
    expect((payload.exp ?? 0) - (payload.iat ?? 0)).toBe(300);
  });

  it('200 messages refused at once cost one renewal, and each of them is sent once more', async () => {
    const { upstream, telemetry, chat, tokens } = await startSite();
    upstream.willWait();
    const statuses = atOnce(200, chat);
    const refused = await Promise.all(Array.from({ length: 200 }, () => upstream.next()));
    upstream.willAnswerAgain();
    for (const exchange of refused) exchange.json(401, {});

    expect(new Set(await statuses)).toEqual(new Set([200]));
    expect(tokens()).toHaveLength(2);
    expect(telemetry.of('token').filter(({ outcome }) => outcome === 'acquired' || outcome === 'renewed')).toHaveLength(
      2,
    );
    expect(upstream.requests).toHaveLength(400);
  });
});
