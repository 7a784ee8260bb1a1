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

/** The limits of a render cache. */
export interface RenderCacheSettings {
  /** Time for which a render is served without a check, in milliseconds. */
  readonly freshMs: number;
  /** Lifetime of a render, however often the widget is found unchanged, in milliseconds. */
  readonly maxAgeMs: number;
  /** Most renders this cache leaves in the store; one that was not used for long goes first. */
  readonly maxEntries: number;
  readonly maxEntryBytes: number;
}

/** The parts of a render cache. */
export interface RenderCacheDependencies extends RenderCacheSettings, Omit<RenderGenerationsDependencies, 'keys'> {
  /** A one-way function without collisions. */
  readonly hash: (data: string | Uint8Array) => string;
}

/** The platform's verdict on a widget since a render. */
export type WidgetCheck =
  | { readonly kind: 'unchanged' }
  | { readonly kind: 'changed'; readonly etag: string }
  /** The platform has no such call. */
  | { readonly kind: 'unsupported' }
  /** It responded with something else: nothing is known. */
  | { readonly kind: 'unknown' };

/** The platform's response to a render, ready for the browser. */
export interface RenderReply {
  readonly response: HttpResponse;
  readonly isCacheable: boolean;
  readonly etag: string;
}

/** The two calls a cache makes; both throw when the platform does not respond. */
export interface RenderUpstream {
  /** Ends with `signal`; without one, with the caller it is for. */
  render(signal?: AbortSignal): Promise<RenderReply>;
  check(etag: string, signal: AbortSignal): Promise<WidgetCheck>;
}

export type CacheStatus = 'HIT' | 'REVALIDATED' | 'MISS' | 'BYPASS';

/** A render, and where it came from. */
export interface RenderOutcome {
  readonly response: HttpResponse;
  readonly status: CacheStatus;
}

interface Obtained extends RenderOutcome {
  /** True if everyone who waited may have it: a body that streams has one reader. */
  readonly shared: boolean;
}

const UNSUPPORTED_MS = 60_000;
/** In characters. What was read of longer entries is not remembered: a shared store's would be in memory twice. */
const MAX_READ = 8_192;
/** Bytes of all that is remembered of entries. */
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
  /** The last text read from each entry: consecutive hits read the same one. */
  readonly #lastRead: LruMap<{ readonly text: string; readonly render: CachedRender | undefined }>;
  readonly #flights = new SingleFlight<Obtained>();
  /** Keys this cache left in the store. */
  readonly #kept: LruMap<true>;
  /** Surfaces the platform cannot check, and until when that is believed. */
  readonly #unsupported: LruMap<number>;

  constructor(dependencies: RenderCacheDependencies) {
    this.#deps = dependencies;
    this.#kept = new LruMap(dependencies);
    this.#unsupported = new LruMap(dependencies);
    this.#lastRead = new LruMap({ maxEntries: dependencies.maxEntries, maxBytes: READ_BYTES });
    this.#keys = new RenderKeys(dependencies.hash, dependencies.maxEntries);
    this.#generations = new RenderGenerations({ ...dependencies, keys: this.#keys });
  }

  /** A render that is no older than the last action. Work that others wait for does not end with this caller. */
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
    // Those who saw the same generation wait together; who comes after an action does not join what began before it.
    const flightKey = `${keys.render} ${generation}`;
    const running = this.#flights.running(flightKey);
    if (running !== undefined) {
      const obtained = await running;
      return obtained.shared ? obtained : { response: (await upstream.render()).response, status: 'BYPASS' };
    }
    return this.#flights.run(flightKey, () => this.#obtain(keys, generation, kept, subject, upstream));
  }

  /** To be awaited after each action that was sent, before its response is given: whatever came of it, nothing rendered before is served again. */
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
    // A signal of its own: the first caller leaving must not fail those who wait with it.
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
    // A text must give the very bytes again.
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
      // Two bytes a character, once as it came and once as it was read.
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

/** A render in the cache. All times in milliseconds since the epoch. */
export interface CachedRender {
  /** When the platform was asked to render it. */
  readonly renderedAt: number;
  /** When it was last known to be what the platform would render. */
  readonly checkedAt: number;
  /** The generation it depends on; another one means that an action came in between. */
  readonly generation: string;
  /** The entity tag of the widget; empty when it is not known. */
  readonly etag: string;
  readonly headers: Record<string, string | readonly string[]>;
  readonly body: string;
}

/** One line of metadata, then the body as it is: a long body is never parsed. */
export function writeCachedRender({ body, ...head }: CachedRender): string {
  return `${JSON.stringify(head)}\n${body}`;
}

/** An entry as it was written; `undefined` when a store gave something else. */
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
  // Half a render would be served as a whole one for as long as it is kept.
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
