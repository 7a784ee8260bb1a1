// One process of a site that shares its tokens: `node shared-cache-process.mjs`, with the settings as the first message.
// Tells when it is ready, then obtains the service token for many callers at once whenever it is told to.
import { createRequire } from 'node:module';
import { createToolkit } from 'agent-bff';

const require = createRequire(import.meta.url);
let toolkit;

process.on('message', async (message) => {
  if (message.config !== undefined) {
    const { Keyv } = await import(message.keyv);
    const { default: Adapter } = require(message.adapter);
    const cacheStore = new Keyv(new Adapter(message.redis));
    await cacheStore.get('a connection must be open before times are taken');
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
