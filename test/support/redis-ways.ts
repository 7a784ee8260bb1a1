import KeyvRedis from '@keyv/redis';
import KeyvValkey from '@keyv/valkey';
import { Keyv } from 'keyv';
import { type KeyvClass, loadKeyv6 } from './keyv6.js';
import { REDIS_SERVER } from './redis-server.js';

const Keyv6 = await loadKeyv6();

/** The ways in which sites connect to a Redis: a version of Keyv with an adapter. */
export const REDIS_WAYS = [
  { title: 'Keyv 5 and @keyv/redis', version: Keyv as unknown as KeyvClass, Adapter: KeyvRedis },
  { title: 'Keyv 5 and @keyv/valkey', version: Keyv as unknown as KeyvClass, Adapter: KeyvValkey },
  { title: 'Keyv 6 and @keyv/redis', version: Keyv6, Adapter: KeyvRedis },
].map(({ title, version, Adapter }) => ({
  title,
  /** False if this machine lacks the Redis or the version of Keyv. */
  isInstalled: REDIS_SERVER !== undefined && version !== undefined,
  connect(url: string) {
    if (version === undefined) throw new Error(`${title} is not installed`);
    const adapter = new Adapter(url);
    return { keyv: new version(adapter), disconnect: () => adapter.disconnect() };
  },
}));
