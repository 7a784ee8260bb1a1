// One process of a site that shares its tokens: `node shared-cache-process.mjs`, with the settings as the first message.
// Reports when it is ready. On each message, obtains the service token for many callers at once.
import { createToolkit } from 'agent-bff';
import { keyvOverRedis } from '../../support/keyv-over-redis.mjs';

let toolkit;

process.on('message', async (message) => {
  if (message.config !== undefined) {
    const cacheStore = await keyvOverRedis(message);
    toolkit = createToolkit({ ...message.config, cacheStore });
    process.send({ ready: true });
    return;
  }
  const calls = await Promise.allSettled(Array.from({ length: message.callers }, () => toolkit.authHeaders()));
  process.send({
    tokens: [...new Set(calls.flatMap(({ value }) => value?.authorization ?? []))],
    failed: calls.filter(({ status }) => status === 'rejected').map(({ reason }) => String(reason)),
  });
});
