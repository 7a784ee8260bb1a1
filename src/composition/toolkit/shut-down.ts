import { setImmediate, setTimeout } from 'node:timers/promises';
import type { RequestGate } from '../../adapters/web/request-gate.js';
import type { HttpUpstream } from '../../ports/http.js';

/** What a site that shuts down has to end. */
export interface RunningSite {
  readonly gate: RequestGate;
  /** Those of this toolkit, and those it replaced whose last responses still run. */
  readonly upstreams: readonly HttpUpstream[];
  /** The connection to the shared cache, where the toolkit made one. */
  readonly store: { close(): Promise<void> } | undefined;
}

/** For what was cut to be told to the browsers. */
const FLUSH_GRACE_MS = 250;
/** The longest a timer of Node can wait. */
const MAX_MS = 2_147_483_647;

/**
 * Ends a site.
 *
 *     (1) no new requests ──► (2) wait for the running ones ──► (3) break off what still runs
 */
export async function shutDown({ gate, upstreams, store }: RunningSite, graceMs: number): Promise<void> {
  // (1)
  gate.close();
  // (2)
  const finished = Promise.allSettled([gate.idle(), ...upstreams.map((upstream) => upstream.close())]);
  await before(finished, Math.min(Math.max(0, graceMs), MAX_MS));
  // (3) Event streams get their error event, other responses are cut: see `EventStream` and `writeStream`.
  const ended = Promise.allSettled([...upstreams.map((upstream) => upstream.close({ graceMs: 0 })), gate.idle()]);
  await before(ended, FLUSH_GRACE_MS);
  await store?.close();
  // Node hands what was written last to the sockets in the next turn.
  await setImmediate();
}

/** Resolves with the work or after so many milliseconds, whichever comes first; the process need not stay for it. */
async function before(work: Promise<unknown>, ms: number): Promise<void> {
  const settled = new AbortController();
  const late = setTimeout(ms, undefined, { signal: settled.signal, ref: false }).catch(() => undefined);
  await Promise.race([work, late]);
  settled.abort();
}
