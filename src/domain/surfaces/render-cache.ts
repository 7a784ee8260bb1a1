import type { HttpResponse } from '../../ports/http.js';
import { utf8Text } from '../shared/bytes.js';
import { getMany } from '../shared/get-many.js';
import { LruMap } from '../shared/lru-map.js';
import { SingleFlight } from '../shared/single-flight.js';
import { readAhead } from '../upstream/body-bytes.js';
import { RenderGenerations, type RenderGenerationsDependencies } from './render-generations.js';
import { type SurfaceNames, surfaceNames, type SurfaceRef } from './surface-ref.js';
import { RenderKeys, type RenderKeySet, type RenderScope, type RenderSubject } from './render-keys.js';
import { parsedJson } from '../shared/json.js';
import { mediaType } from '../shared/body.js';

/** Limits of a render cache. */
export interface RenderCacheSettings {
  /** Milliseconds for which a render is served without a check. */
  readonly freshMs: number;
  /** Maximum lifetime of a render in milliseconds, even if every check finds the widget unchanged. */
  readonly maxAgeMs: number;
  /** Maximum number of renders this cache leaves in the store; the least recently used is evicted first. */
  readonly maxEntries: number;
  readonly maxEntryBytes: number;
}

export interface RenderCacheDependencies extends RenderCacheSettings, Omit<RenderGenerationsDependencies, 'keys'> {
  /** A collision-resistant one-way hash. */
  readonly hash: (data: string | Uint8Array) => string;
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
/** In characters. Longer entries are not remembered, since text and parsed render would both stay in memory. */
const MAX_READ = 8_192;
/** Total bytes of remembered entries. */
const READ_BYTES = 8_388_608;

/**
 * Keeps renders.
 *
 *     (1) young enough ──► HIT
 *     (2) else ask whether the widget changed: no ──► REVALIDATED, and young again
 *     (3) else render, once for all who wait ──► MISS
 *     (4) keep it, unless an action came in between
 */
export class RenderCache {
  readonly #deps: RenderCacheDependencies;
  readonly #keys: RenderKeys;
  readonly #generations: RenderGenerations;
  /** The last text read for each entry: consecutive hits read the same text. */
  readonly #lastRead: LruMap<{ readonly text: string; readonly render: CachedRender | undefined }>;
  readonly #flights = new SingleFlight<Obtained>();
  /** Keys this cache left in the store. */
  readonly #kept: LruMap<true>;
  /** Surfaces for which the platform has no check, and when to try again. */
  readonly #unsupported: LruMap<number>;

  constructor(dependencies: RenderCacheDependencies) {
    this.#deps = dependencies;
    this.#kept = new LruMap(dependencies);
    this.#unsupported = new LruMap(dependencies);
    this.#lastRead = new LruMap({ maxEntries: dependencies.maxEntries, maxBytes: READ_BYTES });
    this.#keys = new RenderKeys(dependencies.hash, dependencies.maxEntries);
    this.#generations = new RenderGenerations({ ...dependencies, keys: this.#keys });
  }

  /** A render that is not older than the last action. Work that others wait for continues when this caller leaves. */
  async render(subject: RenderSubject, upstream: RenderUpstream): Promise<RenderOutcome> {
    const { store, clock, freshMs, maxAgeMs } = this.#deps;
    const keys = this.#keys.keys(subject);
    if (keys === undefined) return { response: (await upstream.render()).response, status: 'BYPASS' };
    const [text, callerTag, surfaceTag] = await getMany(store, [keys.render, keys.callerTag, keys.surfaceTag]);
    const generation = await this.#generations.current(keys, [callerTag, surfaceTag]);
    if (generation === undefined) return { response: (await upstream.render()).response, status: 'BYPASS' };
    const known = this.#read(keys, text);
    const now = clock.now();
    const isAlive = known?.generation === generation && known.renderedAt <= now && now < known.renderedAt + maxAgeMs;
    const kept = isAlive && !this.#generations.isDoubtful(known.renderedAt) ? known : undefined;
    // (1)
    if (kept !== undefined && kept.checkedAt <= now && now < kept.checkedAt + freshMs) {
      if (this.#kept.get(keys.render) === undefined) await this.#note(keys.render);
      return { response: responseOf(kept), status: 'HIT' };
    }
    // Callers who saw the same version tag wait together; a caller after an action does not join work that began before it.
    const flightKey = `${keys.render} ${generation}`;
    const running = this.#flights.running(flightKey);
    if (running !== undefined) {
      const obtained = await running;
      return obtained.shared ? obtained : { response: (await upstream.render()).response, status: 'BYPASS' };
    }
    return this.#flights.run(flightKey, () => this.#obtain(keys, generation, kept, subject, upstream));
  }

  /** Await this after every action that was sent, before returning its response: whatever its result, no earlier render is served again. */
  async invalidate(scope: RenderScope, ref: SurfaceRef, names: SurfaceNames): Promise<void> {
    await this.#generations.bump(scope, ref, names);
  }

  async #obtain(
    keys: RenderKeySet,
    generation: string,
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
        await this.#keep(keys, again);
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
      generation,
      etag: etag || reply.etag,
      headers: rest,
      body: text,
    };
    // (4)
    await this.#generations.link(subject.scope, subject.ref, surfaceNames(read.bytes));
    await this.#keep(keys, rendered);
    return { response: responseOf(rendered), status: 'MISS', shared: true };
  }

  async #keep(keys: RenderKeySet, render: CachedRender): Promise<void> {
    const { store, maxAgeMs } = this.#deps;
    if ((await this.#generations.current(keys)) !== render.generation) return;
    if (this.#generations.isDoubtful(render.renderedAt)) return;
    await store.set(keys.render, writeCachedRender(render), render.renderedAt + maxAgeMs);
    await this.#note(keys.render);
  }

  async #note(key: string): Promise<void> {
    for (const evicted of this.#kept.set(key, true)) await this.#deps.store.delete(evicted);
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
  /** The version tag it depends on; if it changed, an action came in between. */
  readonly generation: string;
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
  const { renderedAt, checkedAt, generation, etag, headers } = head ?? {};
  if (typeof renderedAt !== 'number' || typeof checkedAt !== 'number' || typeof generation !== 'string')
    return undefined;
  if (typeof etag !== 'string' || typeof headers !== 'object' || headers === null) return undefined;
  return { renderedAt, checkedAt, generation, etag, headers, body: text.slice(end + 1) };
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
