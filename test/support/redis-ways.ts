import { KEYV6_ENTRY, loadKeyv6 } from './keyv6.js';
import { REDIS_SERVER } from './redis-server.js';

/** A version of Keyv with an adapter, by the module names that another process imports. */
export interface RedisWay {
  readonly title: string;
  readonly keyv: string;
  readonly adapter: string;
  /** True if this machine has everything it needs. */
  readonly isInstalled: boolean;
}

const hasRedis = REDIS_SERVER !== undefined;
const hasKeyv6 = hasRedis && (await loadKeyv6()) !== undefined;

/** The ways in which processes of a site can share a Redis. */
export const REDIS_WAYS: readonly RedisWay[] = [
  { title: 'Keyv 5 and @keyv/redis', keyv: 'keyv', adapter: '@keyv/redis', isInstalled: hasRedis },
  { title: 'Keyv 5 and @keyv/valkey', keyv: 'keyv', adapter: '@keyv/valkey', isInstalled: hasRedis },
  { title: 'Keyv 6 and @keyv/redis', keyv: KEYV6_ENTRY, adapter: '@keyv/redis', isInstalled: hasKeyv6 },
];
