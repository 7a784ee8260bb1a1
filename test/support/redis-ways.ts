import { KEYV6_ENTRY, loadKeyv6 } from './keyv6.js';
import { REDIS_SERVER } from './redis-server.js';

/** A version of Keyv over an adapter, by the names another process imports them with. */
export interface RedisWay {
  readonly title: string;
  readonly keyv: string;
  readonly adapter: string;
  /** Whether this machine has all it takes. */
  readonly isInstalled: boolean;
}

const hasRedis = REDIS_SERVER !== undefined;
const hasKeyv6 = hasRedis && (await loadKeyv6()) !== undefined;

/** The ways processes of one site share a Redis. */
export const REDIS_WAYS: readonly RedisWay[] = [
  { title: 'Keyv 5 and @keyv/redis', keyv: 'keyv', adapter: '@keyv/redis', isInstalled: hasRedis },
  { title: 'Keyv 5 and @keyv/valkey', keyv: 'keyv', adapter: '@keyv/valkey', isInstalled: hasRedis },
  { title: 'Keyv 6 and @keyv/redis', keyv: KEYV6_ENTRY, adapter: '@keyv/redis', isInstalled: hasKeyv6 },
];
