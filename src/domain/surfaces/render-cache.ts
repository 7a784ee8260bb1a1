import type { Clock } from '../../ports/clock.js';
import type { HttpResponse } from '../../ports/http.js';
import { utf8Text } from '../shared/bytes.js';
import { LruMap } from '../shared/lru-map.js';
import { SingleFlight } from '../shared/single-flight.js';
import { readAhead } from '../upstream/body-bytes.js';
import { type CachedRender, type RenderStore, sharedBody } from './cached-render.js';
import type { Generations } from './generations.js';
import type { RenderKeySet, RenderScope, RenderSubject } from './render-keys.js';
import { type SurfaceNames, surfaceNames, type SurfaceRef } from './surface-ref.js';

/** Limits of a render cache. */
export interface RenderCacheSettings {
  /** Milliseconds for which a render is served without a check. */
  readonly freshMs: number;
  /** Maximum lifetime of a render in milliseconds, even if every check finds the widget unchanged. */
  readonly maxAgeMs: number;
  readonly maxEntryBytes: number;
}

export interface RenderCacheDependencies extends RenderCacheSettings {
  readonly clock: Clock;
  readonly renders: RenderStore;
  /** Shared by all caches of this process that use the same store. */
  readonly generations: Generations;
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

/** A render to obtain. */
interface RenderTask {
  readonly key: string;
  readonly subject: RenderSubject;
  readonly upstream: RenderUpstream;
  /** The generations it will depend on, read before it begins. */
  readonly generation: string;
}

type LookUp = readonly [generation: string | undefined, stored: CachedRender | undefined];

interface Obtained extends RenderOutcome {
  /** True if everyone who waited may use it: a streaming body has only one reader. */
  readonly shared: boolean;
}

const UNSUPPORTED_MS = 60_000;
/** Surfaces without a check that are remembered. */
const MAX_UNSUPPORTED = 10_000;

/**
 * Caches renders.
 *
 *     (1) fresh ──► HIT
 *     (2) otherwise check if the widget changed: no ──► REVALIDATED, and fresh again
 *     (3) otherwise render ──► MISS, stored with the generations that were read before
 *
 * Steps 2 and 3 run once for all who wait in this process. Without the store, each request renders for itself.
 */
export class RenderCache {
  readonly #deps: RenderCacheDependencies;
  readonly #flights = new SingleFlight<Obtained>();
  /** Surfaces for which the platform has no check for now. */
  readonly #unsupported = new LruMap<true>({ maxEntries: MAX_UNSUPPORTED });

  constructor(dependencies: RenderCacheDependencies) {
    this.#deps = dependencies;
    dependencies.generations.cover(dependencies.maxAgeMs);
  }

  /** A render that is not older than the last action. Work that others wait for continues when this caller leaves. */
  async render(subject: RenderSubject, upstream: RenderUpstream): Promise<RenderOutcome> {
    const { generations, clock } = this.#deps;
    const keys = generations.keys.keys(subject);
    const { actions } = generations;
    const [generation, stored] = await this.#lookUp(keys);
    if (generation === undefined) return { response: (await upstream.render()).response, status: 'MISS' };
    const known = this.#valid(stored, generation, clock.now());
    // (1)
    if (known !== undefined && this.#isFresh(known, clock.now())) return { response: responseOf(known), status: 'HIT' };
    // A caller after an action does not join work that began before it.
    const flight = `${keys.render} ${generation} ${String(actions)}`;
    const running = this.#flights.running(flight);
    if (running === undefined) {
      return this.#flights.run(flight, () => this.#obtain({ key: keys.render, subject, upstream, generation }, known));
    }
    const obtained = await running;
    return obtained.shared ? obtained : { response: (await upstream.render()).response, status: 'BYPASS' };
  }

  /** Await this after every action that was sent, before its response passes: whatever its result, no earlier render is served again. */
  async invalidate(scope: RenderScope, ref: SurfaceRef, names: SurfaceNames): Promise<void> {
    await this.#deps.generations.act(scope, ref, names);
  }

  /** The current generations, and the stored render; neither if the store fails. */
  async #lookUp(keys: RenderKeySet): Promise<LookUp> {
    const { generations, renders } = this.#deps;
    try {
      return await Promise.all([generations.current(keys), renders.get(keys.render)]);
    } catch {
      // The store has reported it.
      return [undefined, undefined];
    }
  }

  async #obtain(task: RenderTask, known: CachedRender | undefined): Promise<Obtained> {
    const { subject, upstream, generation } = task;
    const { clock } = this.#deps;
    // A signal of its own: the first caller leaving must not fail the others.
    const { signal } = new AbortController();
    let etag = '';
    // (2)
    const checkedAt = clock.now();
    if (known !== undefined && this.#unsupported.get(surfaceKey(subject), checkedAt) === undefined) {
      const check = await upstream.check(known.etag, signal);
      if (check.kind === 'unchanged') {
        const again = { ...known, checkedAt };
        await this.#store(task, again);
        return { response: responseOf(again), status: 'REVALIDATED', shared: true };
      }
      if (check.kind === 'unsupported') this.#unsupported.set(surfaceKey(subject), true, clock.now() + UNSUPPORTED_MS);
      if (check.kind === 'changed') ({ etag } = check);
    }
    // (3)
    const renderedAt = clock.now();
    const reply = await upstream.render(signal);
    const { status, headers, body } = reply.response;
    if (!reply.isCacheable) return { response: reply.response, status: 'MISS', shared: false };
    const read = await readAhead(body, this.#deps.maxEntryBytes);
    if (!read.complete) return { response: { status, headers, body: read.body }, status: 'MISS', shared: false };
    // A store of texts must return the same bytes.
    const text = utf8Text(read.bytes);
    if (text === undefined) return { response: { status, headers, body: read.bytes }, status: 'MISS', shared: false };
    const { 'content-length': _length, ...rest } = headers as CachedRender['headers'];
    const rendered: CachedRender = {
      renderedAt,
      checkedAt: renderedAt,
      generation,
      etag: etag || reply.etag,
      // Written once: it is the same for each response from the cache.
      headers: { ...rest, 'x-cache': 'HIT' satisfies CacheStatus },
      body: sharedBody(text),
    };
    // An action under the surface's own id or name would not find it under another.
    const { ref } = subject;
    const { [ref.by]: own = ref.value } = surfaceNames(read.bytes);
    if (own === ref.value) await this.#store(task, rendered);
    return { response: responseOf(rendered), status: 'MISS', shared: true };
  }

  async #store({ key }: RenderTask, render: CachedRender): Promise<void> {
    // The store has reported it. The visitor has the render.
    await this.#deps.renders.set(key, render, render.renderedAt + this.#deps.maxAgeMs).catch(() => undefined);
  }

  /** The render if no action came after it, and it has not expired. One from the future has, since a clock is wrong. */
  #valid(render: CachedRender | undefined, generation: string, now: number): CachedRender | undefined {
    if (render?.generation !== generation || now < render.renderedAt) return undefined;
    return now < render.renderedAt + this.#deps.maxAgeMs ? render : undefined;
  }

  #isFresh({ checkedAt }: CachedRender, now: number): boolean {
    return checkedAt <= now && now < checkedAt + this.#deps.freshMs;
  }
}

function surfaceKey({ ref }: RenderSubject): string {
  return `${ref.by} ${ref.value}`;
}

function responseOf({ headers, body }: CachedRender): HttpResponse {
  return { status: 200, headers, body };
}
