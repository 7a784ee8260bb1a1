import { afterEach, beforeEach } from 'vitest';
import { UndiciUpstream } from '../../src/adapters/undici/undici-upstream.js';
import type { HttpResponse, UpstreamOutcome, UpstreamRequest } from '../../src/ports/http.js';
import { responseOf, upstreamRequest } from '../contracts/http-upstream.contract.js';
import { type Exchange, RecordingUpstream } from '../support/recording-upstream.js';

/** The calls of a site, and the platform they reach; both are new for each test. */
export interface UndiciWorld {
  readonly platform: RecordingUpstream;
  readonly upstream: UndiciUpstream;
  send(changes?: Partial<UpstreamRequest>): Promise<UpstreamOutcome>;
  /** A response whose head has arrived, and whose body the test writes. */
  opened(changes?: Partial<UpstreamRequest>, type?: string): Promise<{ exchange: Exchange; response: HttpResponse }>;
}

/** Starts a platform, and an upstream that calls it, for every test of a file or of a `describe`. */
export function runUndiciWorld(): UndiciWorld {
  let platform: RecordingUpstream;
  let upstream: UndiciUpstream;
  beforeEach(async () => {
    platform = await RecordingUpstream.start();
    upstream = new UndiciUpstream({ connectMs: 5_000 });
  });
  afterEach(async () => {
    await platform.close();
    await upstream.close({ graceMs: 0 });
  });
  const send = (changes: Partial<UpstreamRequest> = {}): Promise<UpstreamOutcome> =>
    upstream.send(upstreamRequest(platform.origin, changes));
  return {
    get platform() {
      return platform;
    },
    get upstream() {
      return upstream;
    },
    send,
    opened: async (changes = {}, type = 'application/json') => {
      platform.willWait();
      const pending = send(changes);
      const exchange = await platform.next();
      exchange.head(200, { 'content-type': type });
      return { exchange, response: responseOf(await pending) };
    },
  };
}
