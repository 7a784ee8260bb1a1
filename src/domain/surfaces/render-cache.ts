import type { HttpResponse } from '../../ports/http.js';
import { utf8Text } from '../shared/bytes.js';
import { getMany } from '../shared/get-many.js';
import { LruMap } from '../shared/lru-map.js';
import { SingleFlight } from '../shared/single-flight.js';
import { readAhead } from '../upstream/body-bytes.js';
import { VersionTags, type VersionTagsDependencies } from './version-tags.js';
import { type SurfaceNames, surfaceNames, type SurfaceRef } from './surface-ref.js';
import type { StoreBudget } from './store-budget.js';
import { RenderKeys, type RenderKeySet, type RenderScope, type RenderSubject } from './render-keys.js';
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

export interface RenderCacheDependencies extends RenderCacheSettings, Omit<VersionTagsDependencies, 'keys'> {
  /** A collision-resistant one-way hash. */
  readonly hash: (data: string | Uint8Array) => string;
  /** Counts what this process leaves in the store; absent if the store bounds itself. */
  readonly budget?: StoreBudget | undefined;
}

/** The platform's response to the question if a widget changed since a render. */
export type WidgetCheck =
  | { readonly kind: 'unchanged' }
  | { readonly kind: 'changed'; readonly etag: string }
  /** The platform does not have this call. */
  | { readonly kind: 'unsupported' }
  /** It sent another response: unknown. */
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

interface Obtained extends RenderOutcome {
  /** True if everyone who waited may use it: a streaming body has only one reader. */
  readonly shared: boolean;
}

const UNSUPPORTED_MS = 60_000;
/** Surfaces without a check that are remembered. */
const MAX_UNSUPPORTED = 10_000;
/** In characters. Longer entries are not remembered, since text and parsed render would both stay in memory. */
const MAX_READ = 8_192;
/** Total bytes of remembered entries. */
const READ_BYTES = 8_388_608;

/**
 * Caches renders.
 *
 *     (1) fresh ──► HIT
 *     (2) otherwise check if the widget changed: no ──► REVALIDATED, and fresh again
 *     (3) otherwise render, once for all who wait ──► MISS
 *     (4) store it, unless there was an action meanwhile
 */
export class RenderCache {
  readonly #deps: RenderCacheDependencies;
  readonly #keys: RenderKeys;
  readonly #versionTags: VersionTags;
  /** The last text read for each entry: consecutive hits read the same text. */
  readonly #lastRead = new LruMap<{ readonly text: string; readonly render: CachedRender | undefined }>({
    maxBytes: READ_BYTES,
  });
  readonly #flights = new SingleFlight<Obtained>();
  /** Surfaces for which the platform has no check, and when to try again. */
  readonly #unsupported = new LruMap<number>({ maxEntries: MAX_UNSUPPORTED });

  constructor(dependencies: RenderCacheDependencies) {
    this.#deps = dependencies;
    this.#keys = new RenderKeys(dependencies.hash);
    this.#versionTags = new VersionTags({ ...dependencies, keys: this.#keys });
  }

  /** A render that is not older than the last action. Work that others wait for continues when this caller leaves. */
  async render(subject: RenderSubject, upstream: RenderUpstream): Promise<RenderOutcome> {
    const { store, clock, freshMs, maxAgeMs } = this.#deps;
    const keys = this.#keys.keys(subject);
    if (keys === undefined) return { response: (await upstream.render()).response, status: 'BYPASS' };
    const [text, callerTag, surfaceTag] = await getMany(store, [keys.render, keys.callerTag, keys.surfaceTag]);
    const versionTag = await this.#versionTags.current(keys, [callerTag, surfaceTag]);
    if (versionTag === undefined) return { response: (await upstream.render()).response, status: 'BYPASS' };
    const known = this.#read(keys, text);
    const now = clock.now();
    const isAlive = known?.versionTag === versionTag && known.renderedAt <= now && now < known.renderedAt + maxAgeMs;
    const kept = isAlive && !this.#versionTags.isDoubtful(known.renderedAt) ? known : undefined;
    // (1)
    if (kept !== undefined && kept.checkedAt <= now && now < kept.checkedAt + freshMs)
      return { response: responseOf(kept), status: 'HIT' };
    // Callers who saw the same version tag wait together; a caller after an action does not join work that began before it.
    const flightKey = `${keys.render} ${versionTag}`;
    const running = this.#flights.running(flightKey);
    if (running !== undefined) {
      const obtained = await running;
      return obtained.shared ? obtained : { response: (await upstream.render()).response, status: 'BYPASS' };
    }
    return this.#flights.run(flightKey, () => this.#obtain(keys, versionTag, kept, subject, upstream));
  }

  /** Await this after every action that was sent, before returning its response: whatever its result, no earlier render is served again. */
  async invalidate(scope: RenderScope, ref: SurfaceRef, names: SurfaceNames): Promise<void> {
    await this.#versionTags.bump(scope, ref, names);
  }

  async #obtain(
    keys: RenderKeySet,
    versionTag: string,
    kept: CachedRender | undefined,
    subject: RenderSubject,
    upstream: RenderUpstream,
  ): Promise<Obtained> {
    const { clock } = this.#deps;
    // A signal of its own: the first caller leaving must not fail the others.
    const { signal } = new AbortController();
    let etag = '';
    // (2)
    if (kept !== undefined && !this.#isUnsupported(subject)) {
      const checkedAt = clock.now();
      const check = await upstream.check(kept.etag, signal);
      if (check.kind === 'unchanged') {
        const again = { ...kept, checkedAt };
        // It replaces an entry with the same expiry, which is counted already.
        await this.#keep(keys, again, undefined);
        return { response: responseOf(again), status: 'REVALIDATED', shared: true };
      }
      if (check.kind === 'unsupported') this.#unsupported.set(surfaceKey(subject), clock.now() + UNSUPPORTED_MS);
      if (check.kind === 'changed') ({ etag } = check);
    }
    // (3)
    const renderedAt = clock.now();
    const reply = await upstream.render(signal);
    const { status, headers, body } = reply.response;
    if (!reply.isCacheable) return { response: reply.response, status: 'MISS', shared: false };
    const read = await readAhead(body, this.#deps.maxEntryBytes);
    if (!read.complete) return { response: { status, headers, body: read.body }, status: 'MISS', shared: false };
    // The text must encode to the same bytes.
    const text = utf8Text(read.bytes);
    if (text === undefined) return { response: { status, headers, body: read.bytes }, status: 'MISS', shared: false };
    const { 'content-length': _length, ...rest } = headers as CachedRender['headers'];
    const rendered = {
      renderedAt,
      checkedAt: renderedAt,
      versionTag,
      etag: etag || reply.etag,
      headers: rest,
      body: text,
    };
    // (4)
    await this.#versionTags.link(subject.scope, subject.ref, surfaceNames(read.bytes));
    await this.#keep(keys, rendered, this.#deps.budget);
    return { response: responseOf(rendered), status: 'MISS', shared: true };
  }

  async #keep(keys: RenderKeySet, render: CachedRender, budget: StoreBudget | undefined): Promise<void> {
    const { store, clock, maxAgeMs, storeBytes: limitBytes } = this.#deps;
    if ((await this.#versionTags.current(keys)) !== render.versionTag) return;
    if (this.#versionTags.isDoubtful(render.renderedAt)) return;
    const text = writeCachedRender(render);
    const [now, expiresAt] = [clock.now(), render.renderedAt + maxAgeMs];
    const isAdmitted = budget?.admits(keys.render, { bytes: text.length, expiresAt, now, limitBytes }) ?? true;
    if (isAdmitted) await store.set(keys.render, text, expiresAt);
  }

  #read(keys: RenderKeySet, text: string | undefined): CachedRender | undefined {
    if (text === undefined || text.length > MAX_READ) return readCachedRender(text);
    let last = this.#lastRead.get(keys.render);
    if (last?.text !== text) {
      last = { text, render: readCachedRender(text) };
      // Two bytes a character, as received and as parsed.
      this.#lastRead.set(keys.render, last, 4 * text.length);
    }
    return last.render;
  }

  #isUnsupported(subject: RenderSubject): boolean {
    const until = this.#unsupported.get(surfaceKey(subject));
    return until !== undefined && this.#deps.clock.now() < until;
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
  /** The entity tag of the widget; empty if unknown. */
  readonly etag: string;
  readonly headers: Record<string, string | readonly string[]>;
  readonly body: string;
}

/** One line of metadata, then the body unchanged, so that a long body is never parsed. */
export function writeCachedRender({ body, ...head }: CachedRender): string {
  return `${JSON.stringify(head)}\n${body}`;
}

/** Parses an entry; `undefined` if the store returned something else. */
export function readCachedRender(text: string | undefined): CachedRender | undefined {
  if (text === undefined) return undefined;
  const end = text.indexOf('\n');
  if (end === -1) return undefined;
  const head = parsedJson(text.slice(0, end)) as Partial<CachedRender> | null | undefined;
  const { renderedAt, checkedAt, versionTag, etag, headers } = head ?? {};
  if (typeof renderedAt !== 'number' || typeof checkedAt !== 'number' || typeof versionTag !== 'string')
    return undefined;
  if (typeof etag !== 'string' || typeof headers !== 'object' || headers === null) return undefined;
  return { renderedAt, checkedAt, versionTag, etag, headers, body: text.slice(end + 1) };
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
