import { createToolkit } from 'agent-bff';
import { createNodeHandler } from 'agent-bff/node';
import { FakeIdentityProvider } from 'agent-bff/testing';
import { listeningSite } from '../../../site/frameworks/listening-site.js';
import { PostingClient } from '../../../support/other-readers/posting-client.js';
import type { CrossedMessage } from '../../../support/other-readers/reading.js';
import { RecordingUpstream } from '../../../support/recording-upstream.js';
import type { HostileMessage } from './hostile-message.js';

/** A message that reached the agent. */
export interface Crossing extends CrossedMessage {
  /** The `Content-Encoding` received by the agent. No parser here decodes it. */
  readonly contentEncoding: string | undefined;
}

const CONNECTIONS = 4;

/** Sends messages to a site whose visitors share one credential, and returns those that reached its agent. */
export async function crossings(messages: readonly HostileMessage[]): Promise<readonly Crossing[]> {
  const upstream = await RecordingUpstream.start();
  upstream.willAnswer((exchange) => exchange.json(200, { jsonrpc: '2.0', id: 1, result: {} }));
  const toolkit = createToolkit(
    {
      a2aUrl: `${upstream.origin}/agent/v1`,
      serviceApiUrl: `${upstream.origin}/platform/v1`,
      serviceAuthStrategy: 'demo',
      keepAliveMs: 0,
    },
    { identityProviders: { demo: new FakeIdentityProvider('visitor-service') } },
  );
  const site = await listeningSite(createNodeHandler({ toolkit }));
  const left = messages.values();
  const sender = async (): Promise<void> => {
    const client = new PostingClient(site.url);
    for (const { declares, body } of left) {
      if ((await client.post('/api/a2a', declares, body)) === 'cut') throw new Error('a message has no response');
    }
    client.close();
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, sender));
  await site.close();
  await toolkit.close();
  await upstream.close();
  return upstream.requests.map(({ fields, body }) => {
    const value = (name: string): string | undefined => fields.find(([field]) => field === name)?.[1];
    return { contentType: value('content-type') ?? '', contentEncoding: value('content-encoding'), body };
  });
}
