import { stamped, stampOf } from './scenarios.mjs';
import { median, quantile } from './statistics.mjs';

const EVENT_BYTES = stamped(0n).length;
const NS_PER_MICROSECOND = 1_000;

/** Latency of events and first bytes, in microseconds. */
export class LatencyRecord {
  #events = [];
  #firstBytes = [];

  /** The record of one connection. */
  visitor() {
    let sentAt = 0n;
    let rest = '';
    return {
      begin: () => {
        sentAt = process.hrtime.bigint();
        rest = '';
      },
      take: (chunk, seen) => {
        const now = process.hrtime.bigint();
        if (seen === 0) this.#firstBytes.push(Number(now - sentAt) / NS_PER_MICROSECOND);
        rest += chunk.latin1Slice();
        let at = 0;
        for (; at + EVENT_BYTES <= rest.length; at += EVENT_BYTES) {
          this.#events.push(Number(now - stampOf(rest, at)) / NS_PER_MICROSECOND);
        }
        rest = rest.slice(at);
      },
    };
  }

  summary() {
    return {
      events: this.#events.length,
      eventP50: median(this.#events),
      eventP99: quantile(this.#events, 0.99),
      firstByteP50: median(this.#firstBytes),
      firstByteP99: quantile(this.#firstBytes, 0.99),
    };
  }
}
