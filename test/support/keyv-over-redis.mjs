import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);
const ADAPTERS = {
  '@keyv/redis': () => require('@keyv/redis'),
  '@keyv/valkey': () => require('@keyv/valkey'),
};

/** A Keyv of the version imported from `keyv`, with an adapter connected to Redis. */
export async function keyvOverRedis({ keyv, adapter, redis }) {
  const { Keyv } = await import(keyv);
  const { default: Adapter } = ADAPTERS[adapter]();
  const store = new Keyv(new Adapter(redis));
  await store.get('a connection must be open before times are taken');
  return store;
}
