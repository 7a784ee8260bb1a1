/** One redis-server of a topology. */
export interface TopologyServer {
  readonly port: number;
  readonly url: string;
  start(): Promise<TopologyServer>;
  /** Runs redis-cli against it. */
  cli(...words: string[]): Promise<string>;
  /** Ends it, like a crash. */
  kill(): Promise<void>;
  freeze(): void;
  thaw(): void;
}

export interface RedisCluster {
  readonly nodes: readonly TopologyServer[];
  readonly url: string;
  settled(): Promise<unknown>;
  primaryOf(key: string): Promise<TopologyServer>;
  primaries(): Promise<readonly TopologyServer[]>;
  replicaOf(primary: TopologyServer): Promise<TopologyServer>;
  failover(key: string, how?: 'kill' | 'freeze'): Promise<TopologyServer>;
  /** Moves many slots between two primaries. */
  reshardMany(count: number): Promise<void>;
  reshard(key: string, count: number): Promise<{ readonly source: TopologyServer; readonly target: TopologyServer }>;
  close(): Promise<void>;
}

export interface RedisSentinels {
  readonly servers: readonly TopologyServer[];
  readonly sentinels: readonly TopologyServer[];
  readonly url: string;
  primary(): Promise<TopologyServer>;
  failover(how?: 'kill' | 'freeze'): Promise<TopologyServer>;
  close(): Promise<void>;
}

export interface StandaloneServer extends TopologyServer {
  close(): Promise<void>;
}

export declare function startServer(lines?: readonly string[]): Promise<StandaloneServer>;
export declare function startCluster(lines?: readonly string[]): Promise<RedisCluster>;
export declare function startSentinels(
  lines?: readonly string[],
  sentinelLines?: readonly string[],
): Promise<RedisSentinels>;
