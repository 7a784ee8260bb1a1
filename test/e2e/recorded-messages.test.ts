import { createToolkit, type Toolkit } from 'agent-bff';
import { createNodeHandler } from 'agent-bff/node';
import { FakeIdentityProvider } from 'agent-bff/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Site } from '../site/framework.js';
import { listeningSite } from '../site/frameworks/listening-site.js';
import { PostingClient } from '../support/other-readers/posting-client.js';
import { RECORDED_CLIENTS, type RecordedMessage } from '../support/recorded-messages.js';
import { type RecordedRequest, RecordingUpstream } from '../support/recording-upstream.js';

let upstream: RecordingUpstream;
let toolkit: Toolkit;
let site: Site;
let client: PostingClient;

beforeAll(async () => {
  upstream = await RecordingUpstream.start();
  toolkit = createToolkit(
    {
      a2aUrl: `${upstream.origin}/agent/v1`,
      serviceApiUrl: `${upstream.origin}/platform/v1`,
      serviceAuthStrategy: 'demo',
      a2aMethods: 'chat',
    },
    { identityProviders: { demo: new FakeIdentityProvider('visitor-service') } },
  );
  site = await listeningSite(createNodeHandler({ toolkit, a2a: { tenant: 'team-1' } }));
  client = new PostingClient(site.url);
});

afterAll(async () => {
  client?.close();
  await site?.close();
  await toolkit?.close();
  await upstream?.close();
});

/** The differences between a message as sent and as received; empty if there are none. */
async function damage({ contentType, body }: RecordedMessage): Promise<string | undefined> {
  const before = upstream.requests.length;
  const status = await client.post('/api/a2a', [`Content-Type: ${contentType}`], Buffer.from(body));
  const arrived: RecordedRequest | undefined = upstream.requests[before];
  if (arrived === undefined) return `refused with ${status}`;
  if (!arrived.body.equals(Buffer.from(body))) return 'with other bytes';
  const declared = arrived.fields.filter(([name]) => name === 'content-type').map(([, value]) => value);
  return declared.join() === 'application/json' ? undefined : `as ${declared.join()}`;
}

describe('under policy "chat", an agent receives unchanged and as application/json', () => {
  it.each(RECORDED_CLIENTS.map(({ client: name, messages }) => ({ name, messages, count: messages.length })))(
    'all $count messages of $name',
    async ({ messages }) => {
      const damaged: string[] = [];
      for (const message of messages) {
        const found = await damage(message);
        if (found !== undefined) damaged.push(`${message.says}: ${found}`);
      }
      expect(damaged).toEqual([]);
    },
  );
});
