import type { HttpResponse } from '../../ports/http.js';
import { utf8Text } from '../shared/bytes.js';
import { LruMap } from '../shared/lru-map.js';
import type { MemoryShare } from '../shared/memory-budget.js';
import { getMany, STORE_AWAY } from '../shared/store-calls.js';
import { SingleFlight } from '../shared/single-flight.js';
import { FleetFlight, type FleetFlightDependencies } from '../upstream/fleet-flight.js';
import { readAhead } from '../upstream/body-bytes.js';
import type { VersionTags } from './version-tags.js';
import { type SurfaceNames, surfaceNames, type SurfaceRef } from './surface-ref.js';
import type { StoreBudget } from './store-budget.js';
import type { RenderKeySet, RenderScope, RenderSubject } from './render-keys.js';
import { parsedJson } from '../shared/json.js';
import { mediaType } from '../shared/body.js';

/** Limits of a render cache. */
export interface RenderCacheSettings {
  /** Milliseconds for which a render is served without a check. */
  readonly freshMs: number;
  /** Maximum lifetime of a render in milliseconds, even if every check finds the widget unchanged. */
  readonly maxAgeMs: number;
  readonly maxEntryBytes: number;
  /** Bytes of unexpired renders this process leaves in a shared store, before it waits for their second request. */
  readonly storeBytes: number;
}

export interface RenderCacheDependencies extends RenderCacheSettings, FleetFlightDependencies {
  /** Shared by all caches of this process that use the same store. */
  readonly versionTags: VersionTags;
  /** Counts remembered renders. */
  readonly memory: MemoryShare;
  /** Counts what this process leaves in the store; absent if the store bounds itself. */
  readonly budget?: StoreBudget | undefined;
  /** Bytes that an entry takes in the store. */
  readonly storedBytes: (text: string) => number;
}

/** The platform's response when asked if a widget changed since a render. */
export type WidgetCheck =
  | { readonly kind: 'unchanged' }
  | { readonly kind: 'changed'; readonly etag: string }
  /** The platform does not have this call. */
  | { readonly kind: 'unsupported' }
  /** The platform sent another response, so the state is unknown. */
  | { readonly kind: 'unknown' };

/** The platform's response to a render, ready for the browser. */
export interface RenderReply {
  readonly response: HttpResponse;
  readonly isCacheable: boolean;
  readonly etag: string;
}

/** The two calls a cache makes; both throw if the platform does not respond. */
export interface RenderUpstream {
  /** Aborted by `signal`; without one, when its caller leaves. */
  render(signal?: AbortSignal): Promise<RenderReply>;
  check(etag: string, signal: AbortSignal): Promise<WidgetCheck>;
}

export type CacheStatus = 'HIT' | 'REVALIDATED' | 'MISS' | 'BYPASS';

/** A render and its source. */
export interface RenderOutcome {
  readonly response: HttpResponse;
  readonly status: CacheStatus;
}

/** The store's response about one render. */
interface Found {
  /** True if the store is not called for now. */
  readonly isAway: boolean;
  readonly text?: string | undefined;
  readonly versionTag?: string | undefined;
  readonly primary: string;
}

/** A render to obtain. */
interface RenderTask {
  readonly keys: RenderKeySet;
  readonly subject: RenderSubject;
  readonly upstream: RenderUpstream;
  /** Empty if the result is not stored. */
  readonly versionTag: string;
  readonly primary: string;
  /** The store's entry when it was looked up. */
  readonly text: string | undefined;
  /** The last action of this process before it. */
  readonly lastAction: number;
  isStored: boolean;
}

type Current = Pick<RenderTask, 'versionTag' | 'primary' | 'lastAction'> & { readonly now: number };

interface Remembered {
  readonly text: string;
  readonly render: CachedRender | undefined;
  /** The last action of this process before the render was found current. */
  lastAction: number;
}

/** No action has this number. */
const OUTDATED = -1;

interface Obtained extends RenderOutcome {
  /** True if everyone who waited may use it: a streaming body has only one reader. */
  readonly shared: boolean;
}

const UNSUPPORTED_MS = 60_000;
/** Surfaces without a check that are remembered. */
const MAX_UNSUPPORTED = 10_000;
/** Flights without a version tag that are remembered. */
const MAX_UNTAGGED = 1_000;
/** Bytes of a remembered entry besides its text and key. */
const ENTRY_BYTES = 512;

/**
 * Caches renders.
 *
 *     (1) fresh ──► HIT
 *     (2) otherwise check if the widget changed: no ──► REVALIDATED, and fresh again
 *     (3) otherwise render ──► MISS
 *     (4) store it, unless there was an action meanwhile
 *
 * Steps 2 and 3 run once for all who wait, in all processes that share the store.
 *
 * While the store responds, it alone decides. While it is away, the last render that this process read or made is
 * served as long as it is fresh and no action of this process came after it. A single failed read is a miss.
 */
export class RenderCache {
  readonly #deps: RenderCacheDependencies;
  readonly #versionTags: VersionTags;
  /** The last text of each entry: consecutive hits read the same one. */
  readonly #remembered: LruMap<Remembered>;
  readonly #flights = new SingleFlight<Obtained>();
  /** Counts the flights without a version tag, so that a request does not join one that began before it. */
  readonly #untagged = new LruMap<number>({ maxEntries: MAX_UNTAGGED });
  #turns = 0;
  readonly #fleet: FleetFlight;
  /** Surfaces for which the platform has no check for now. */
  readonly #unsupported = new LruMap<true>({ maxEntries: MAX_UNSUPPORTED });

  constructor(dependencies: RenderCacheDependencies) {
    this.#deps = dependencies;
    this.#fleet = new FleetFlight(dependencies);
    this.#remembered = new LruMap({ share: dependencies.memory });
    this.#versionTags = dependencies.versionTags;
    this.#versionTags.cover(dependencies.maxAgeMs);
  }

  /** A render that is not older than the last action. Work that others wait for continues when this caller leaves. */
  async render(subject: RenderSubject, upstream: RenderUpstream): Promise<RenderOutcome> {
    const { clock } = this.#deps;
    const keys = this.#versionTags.keys.keys(subject);
    const lastAction = this.#versionTags.lastAction(keys);
    const turn = this.#turns;
    const { isAway, text, versionTag = '', primary } = await this.#lookUp(keys);
    const now = clock.now();
    let kept: CachedRender | undefined;
    if (isAway) {
      const last = this.#remembered.get(keys.render);
      if (last?.lastAction === lastAction && last.render !== undefined && this.#isFresh(last.render, now))
        return { response: responseOf(last.render), status: 'HIT' };
    } else if (versionTag !== '') {
      kept = this.#read(keys, text, { versionTag, primary, lastAction, now });
      // (1)
      if (kept !== undefined && this.#isFresh(kept, now)) return { response: responseOf(kept), status: 'HIT' };
    }
    // Callers who saw the same version tag wait together; a caller after an action does not join work that began before it.
    let flightKey = `${keys.render} ${String(lastAction)} ${versionTag}`;
    // Without a version tag, only work that began after this request is certain to see the actions before it.
    if (versionTag === '' && !isAway) flightKey += ` ${String(this.#turnAfter(turn, flightKey))}`;
    const running = this.#flights.running(flightKey);
    if (running !== undefined) {
      const obtained = await running;
      return obtained.shared ? obtained : { response: (await upstream.render()).response, status: 'BYPASS' };
    }
    const task = { keys, subject, upstream, text, versionTag, primary, lastAction, isStored: false };
    return this.#flights.run(flightKey, () => this.#obtain(task, kept));
  }

  /** Await this after every action that was sent, before returning its response: whatever its result, no earlier render is served again. */
  async invalidate(scope: RenderScope, ref: SurfaceRef, names: SurfaceNames): Promise<void> {
    await this.#versionTags.bump(scope, ref, names);
  }

  /** The store's entry of a render and the version tag to depend on: none if the store does not respond or confirm it. */
  async #lookUp({ render, ...tags }: RenderKeySet): Promise<Found> {
    const { store } = this.#deps;
    const tagKeys = [tags.callerTag, tags.surfaceTag];
    const before = store.primary?.(tagKeys) ?? '';
    try {
      const [text, callerTag, surfaceTag] = await getMany(store, [render, ...tagKeys]);
      const known = this.#versionTags.current(tags, [callerTag, surfaceTag]);
      const versionTag = typeof known === 'object' ? await known : known;
      const primary = store.primary?.(tagKeys) ?? '';
      // Empty before the first connection. If it changed, another primary may have answered part of this.
      if (before !== '' && before !== primary) return { isAway: false, primary };
      return { isAway: false, text, versionTag, primary };
    } catch (error) {
      return { isAway: error === STORE_AWAY, primary: before };
    }
  }

  /** The number of a flight that began after this turn. */
  #turnAfter(turn: number, flightKey: string): number {
    const last = this.#untagged.get(flightKey) ?? 0;
    if (last > turn) return last;
    this.#turns += 1;
    this.#untagged.set(flightKey, this.#turns);
    return this.#turns;
  }

  /** Checks or renders, unless another process that shares the store does. */
  async #obtain(task: RenderTask, kept: CachedRender | undefined): Promise<Obtained> {
    if (task.versionTag === '') return this.#make(task, undefined);
    const name = `${task.keys.render} ${task.versionTag} ${String(kept?.checkedAt ?? '')}`;
    const { found, yieldTurn } = await this.#fleet.join(name, () => this.#stored(task, kept?.checkedAt));
    if (found !== undefined) return { response: responseOf(found), status: 'HIT', shared: true };
    try {
      return await this.#make(task, kept);
    } finally {
      if (!task.isStored) yieldTurn?.();
    }
  }

  /** The render that another process stored since the task began, unless it had been suspended and its render is older than `checkedAt`. */
  async #stored(
    { keys, text: seen, versionTag, primary, lastAction }: RenderTask,
    checkedAt = -Infinity,
  ): Promise<CachedRender | undefined> {
    const text = await this.#deps.store.get(keys.render);
    const render = text === seen ? undefined : readCachedRender(text);
    if (text === undefined || render?.versionTag !== versionTag || render.primary !== primary) return undefined;
    if (render.checkedAt < checkedAt) return undefined;
    this.#remember(keys, { text, render, lastAction });
    return render;
  }

  async #make(task: RenderTask, kept: CachedRender | undefined): Promise<Obtained> {
    const { subject, upstream, versionTag, primary } = task;
    const { clock } = this.#deps;
    // A signal of its own: the first caller leaving must not fail the others.
    const { signal } = new AbortController();
    let etag = '';
    // (2)
    const checkedAt = clock.now();
    if (kept !== undefined && this.#unsupported.get(surfaceKey(subject), checkedAt) === undefined) {
      const check = await upstream.check(kept.etag, signal);
      if (check.kind === 'unchanged') {
        const again = { ...kept, checkedAt };
        // The render replaces an entry with the same expiry, which is counted already.
        await this.#keep(task, again, undefined);
        return { response: responseOf(again), status: 'REVALIDATED', shared: true };
      }
      if (check.kind === 'unsupported')
        this.#unsupported.set(surfaceKey(subject), true, 0, clock.now() + UNSUPPORTED_MS);
      if (check.kind === 'changed') ({ etag } = check);
    }
    // (3)
    const renderedAt = clock.now();
    const reply = await upstream.render(signal);
    const { status, headers, body } = reply.response;
    if (!reply.isCacheable) return { response: reply.response, status: 'MISS', shared: false };
    const read = await readAhead(body, this.#deps.maxEntryBytes);
    if (!read.complete) return { response: { status, headers, body: read.body }, status: 'MISS', shared: false };
    // Its text must encode to the same bytes.
    if (utf8Text(read.bytes) === undefined)
      return { response: { status, headers, body: read.bytes }, status: 'MISS', shared: false };
    const { 'content-length': _length, ...rest } = headers as CachedRender['headers'];
    const rendered = {
      renderedAt,
      checkedAt: renderedAt,
      versionTag,
      primary,
      etag: etag || reply.etag,
      headers: rest,
      // A copy: a short body is a part of what was read from the socket.
      body: new Uint8Array(read.bytes),
    };
    // (4)
    await this.#keep(task, rendered, this.#deps.budget, surfaceNames(read.bytes));
    return { response: responseOf(rendered), status: 'MISS', shared: true };
  }

  /** Remembers a render, and stores it if its version tag is still the current one. */
  async #keep(
    task: RenderTask,
    render: CachedRender,
    budget: StoreBudget | undefined,
    names?: SurfaceNames,
  ): Promise<void> {
    const { store, clock, maxAgeMs, storedBytes, storeBytes: limitBytes } = this.#deps;
    const { keys, subject, versionTag, lastAction } = task;
    const text = writeCachedRender(render);
    this.#remember(keys, { text, render, lastAction });
    if (versionTag === '') return;
    try {
      if (names !== undefined) await this.#versionTags.link(subject.scope, subject.ref, names);
      const found = await getMany(store, [keys.callerTag, keys.surfaceTag]);
      if (found.join(' ') !== versionTag) return;
      const [now, expiresAt] = [clock.now(), render.renderedAt + maxAgeMs];
      const isAdmitted = budget?.admits(keys.render, { bytes: storedBytes(text), expiresAt, now, limitBytes }) ?? true;
      if (!isAdmitted) return;
      await store.set(keys.render, text, expiresAt);
      task.isStored = true;
    } catch {
      // The store has reported it. The visitor has the render.
    }
  }

  /** The stored render, if it depends on the current version tag; only then it may be served while the store is away. */
  #read(keys: RenderKeySet, text: string | undefined, current: Current): CachedRender | undefined {
    if (text === undefined) {
      this.#remembered.delete(keys.render);
      return undefined;
    }
    const { versionTag, primary, lastAction, now } = current;
    let last = this.#remembered.get(keys.render);
    if (last?.text !== text) {
      last = { text, render: readCachedRender(text), lastAction };
      this.#remember(keys, last);
    }
    const { render } = last;
    const isCurrent = render?.versionTag === versionTag && render.primary === primary && this.#isAlive(render, now);
    last.lastAction = isCurrent ? lastAction : OUTDATED;
    return isCurrent ? render : undefined;
  }

  #remember({ render: key }: RenderKeySet, entry: Remembered): void {
    const { clock, maxAgeMs } = this.#deps;
    const renderedAt = entry.render?.renderedAt ?? clock.now();
    // Two bytes a character, which include the body, and its bytes.
    const bytes = 2 * entry.text.length + (entry.render?.body.length ?? 0) + ENTRY_BYTES;
    this.#remembered.set(key, entry, bytes, renderedAt + maxAgeMs);
  }

  #isAlive({ renderedAt }: CachedRender, now: number): boolean {
    return renderedAt <= now && now < renderedAt + this.#deps.maxAgeMs;
  }

  #isFresh(render: CachedRender, now: number): boolean {
    const { checkedAt } = render;
    return checkedAt <= now && now < checkedAt + this.#deps.freshMs && this.#isAlive(render, now);
  }
}

function surfaceKey({ ref }: RenderSubject): string {
  return `${ref.by} ${ref.value}`;
}

function responseOf({ headers, body }: CachedRender): HttpResponse {
  return { status: 200, headers, body };
}

/** A render in the cache. All times are milliseconds since the epoch. */
export interface CachedRender {
  /** Time at which the platform was asked to render it. */
  readonly renderedAt: number;
  /** Time at which it was last known to be current. */
  readonly checkedAt: number;
  /** The version tag it depends on; if it changed, there was an action meanwhile. */
  readonly versionTag: string;
  /** The primary of the store that had this tag: another one may have lost an action. */
  readonly primary: string;
  /** The entity tag of the widget; empty if unknown. */
  readonly etag: string;
  readonly headers: Record<string, string | readonly string[]>;
  /** UTF-8. All responses share these bytes, however many wait for a slow browser. */
  readonly body: Uint8Array;
}

const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

/** One line of metadata, then the body unchanged, so that a long body is never parsed. */
export function writeCachedRender({ body, ...head }: CachedRender): string {
  return `${JSON.stringify(head)}\n${decoder.decode(body)}`;
}

/** Parses an entry; `undefined` if the store returned something else. */
export function readCachedRender(text: string | undefined): CachedRender | undefined {
  if (text === undefined) return undefined;
  const end = text.indexOf('\n');
  if (end === -1) return undefined;
  const head = parsedJson(text.slice(0, end)) as Partial<CachedRender> | null | undefined;
  const { renderedAt, checkedAt, versionTag, primary, etag, headers } = head ?? {};
  if (typeof renderedAt !== 'number' || typeof checkedAt !== 'number' || typeof versionTag !== 'string')
    return undefined;
  if (typeof primary !== 'string' || typeof etag !== 'string') return undefined;
  if (typeof headers !== 'object' || headers === null) return undefined;
  return { renderedAt, checkedAt, versionTag, primary, etag, headers, body: encoder.encode(text.slice(end + 1)) };
}

/** True if the platform's response may be cached. */
export function isCacheable({ status, headers, closeDelimited }: Omit<HttpResponse, 'body'>): boolean {
  // A truncated render would be served as complete for as long as it is cached.
  if (closeDelimited === true) return false;
  if (status !== 200 || headers['set-cookie'] !== undefined) return false;
  if (/(?:^|[\s,])no-store(?:$|[\s,;=])/i.test(String(headers['cache-control'] ?? ''))) return false;
  // Every other field the platform may vary by is either in the key or never sent.
  const varying = String(headers['vary'] ?? '').split(',');
  if (varying.some((name) => name.trim() === '*')) return false;
  const coding = headers['content-encoding'];
  return (coding === undefined || coding === 'identity') && isText(mediaType(headers));
}

function isText(type: string): boolean {
  if (type === 'text/event-stream') return false;
  return type.startsWith('text/') || /^application\/(?:[\w.-]+\+)?(?:json|xml)$/.test(type);
}
