import { FakeCacheStore, FakeSessionTokenSource, FakeUpstream } from '../../../src/adapters/fakes/fakes.js';
import { sha256 } from '../../../src/adapters/system/system.js';
import { resolveUpstream } from '../../../src/composition/config/upstream-config.js';
import type { RouteAuth } from '../../../src/domain/credentials/route-auth.js';
import {
  RenderCache,
  type RenderCacheDependencies,
  type RenderCacheSettings,
} from '../../../src/domain/surfaces/render-cache.js';
import { RenderKeys } from '../../../src/domain/surfaces/render-keys.js';
import type { SurfaceRef } from '../../../src/domain/surfaces/surface-ref.js';
import { type SurfaceRequest, SurfaceService } from '../../../src/domain/surfaces/surface-service.js';
import { textRenders } from '../../../src/domain/surfaces/cached-render.js';
import { Generations, type GenerationsDependencies } from '../../../src/domain/surfaces/generations.js';
import type { PlatformApi } from '../../../src/domain/upstream/platform-api.js';
import type { CacheStore } from '../../../src/ports/cache-store.js';
import type { HeaderFields, HttpResponse } from '../../../src/ports/http.js';
import { BrokerWorld, sessionPlan, TIMEOUTS } from '../credentials/broker-fixture.js';
import { checkedStyles } from '../upstream/checked-styles.js';
import { WidgetPlatform } from './widget-platform.js';
import { textOf } from '../../contracts/http-upstream.contract.js';
import { memoryOf } from '../../support/memory.js';

/** The platform's API under its usual paths. */
export const API: PlatformApi = {
  endpoint: { origin: 'https://platform.example', path: '/api' },
  paths: resolveUpstream().paths,
  projectId: 'proj-1',
  projectIdHeader: 'x-project-id',
  platformKey: 'platform',
};

export const COUNTER: SurfaceRef = { by: 'id', value: 'counter' };
export const COUNTER_BY_NAME: SurfaceRef = { by: 'name', value: 'Counter' };
export const QUOTE: SurfaceRef = { by: 'id', value: 'quote' };

/** A signed-in user. Without a subject, the user has no principal. */
export function user(name: string, subject: string | undefined = name): RouteAuth {
  const token = { kind: 'token' as const, accessToken: `${name}-token` };
  return sessionPlan(new FakeSessionTokenSource(subject === '' ? token : { ...token, subject }));
}

export const ADA: RouteAuth = user('ada');

/** The request of a visitor for a render or an action. */
export interface Visit {
  readonly body?: string;
  readonly headers?: HeaderFields;
  readonly query?: string;
  readonly signal?: AbortSignal;
}

/** Settings of a cache that differ from the defaults of this world. */
export type CacheSettings = Partial<RenderCacheDependencies & Pick<GenerationsDependencies, 'newGeneration'>>;

/** A surface service, a platform with two widgets, and a cache store that counts calls. */
export class SurfaceWorld extends BrokerWorld {
  readonly platform: WidgetPlatform = new WidgetPlatform();
  readonly upstream: FakeUpstream = new FakeUpstream(this.platform.answer);
  readonly store: FakeCacheStore = new FakeCacheStore(this.clock);
  readonly service: SurfaceService;
  readonly cache: RenderCache;
  #generations = 0;

  constructor(settings: Partial<RenderCacheSettings> = {}, api: Partial<PlatformApi> = {}) {
    super();
    this.service = new SurfaceService({
      call: this.callThrough(this.upstream),
      timeouts: TIMEOUTS,
      api: { ...API, ...api },
      styles: checkedStyles(this.telemetry),
    });
    this.cache = this.newCache(settings);
  }

  /** The cache of another process, which shares only the store. */
  newCache(settings: CacheSettings = {}, store: CacheStore = this.store): RenderCache {
    const { clock } = this;
    const newGeneration = (): string => {
      this.#generations += 1;
      return `generation-${String(this.#generations)}`;
    };
    const keys = new RenderKeys({ hash: sha256, memory: memoryOf(clock), clock });
    const generations = new Generations({ store, clock, sleep: clock.sleep, keys, newGeneration, ...settings });
    return new RenderCache({
      clock,
      generations,
      renders: textRenders(store),
      freshMs: 3_000,
      maxAgeMs: 300_000,
      maxEntryBytes: 10_000,
      ...settings,
    });
  }

  async render(
    auth: RouteAuth = ADA,
    ref: SurfaceRef = COUNTER,
    visit: Visit = {},
    cache = this.cache,
  ): Promise<Shown> {
    return this.clock.result(this.beginRender(auth, ref, visit, cache));
  }

  act(auth: RouteAuth = ADA, ref: SurfaceRef = COUNTER, visit: Visit = {}, cache = this.cache): Promise<HttpResponse> {
    return this.clock.result(this.beginAct(auth, ref, visit, cache));
  }

  /** A render during which the test lets time pass. */
  async beginRender(
    auth: RouteAuth = ADA,
    ref: SurfaceRef = COUNTER,
    visit: Visit = {},
    cache = this.cache,
  ): Promise<Shown> {
    return shown(await this.service.render(ref, request(visit), auth, cache));
  }

  /** The same for an action. */
  beginAct(
    auth: RouteAuth = ADA,
    ref: SurfaceRef = COUNTER,
    visit: Visit = {},
    cache = this.cache,
  ): Promise<HttpResponse> {
    return this.service.action(ref, 'add', request(visit), auth, cache);
  }

  /** The number of calls to the platform: renders and checks. */
  get asked(): readonly [number, number] {
    return [this.platform.calls.render, this.platform.calls.check];
  }
}

/** The parts of a render that tests compare. */
export interface Shown {
  readonly cache: unknown;
  readonly content: string;
  readonly response: HttpResponse;
}

export function request({
  body,
  headers = {},
  query = '',
  signal = new AbortController().signal,
}: Visit = {}): SurfaceRequest {
  const type = body === undefined ? {} : { 'content-type': 'application/json' };
  return {
    head: { headers: { ...type, ...headers }, native: { request: undefined }, query, signal },
    body: body === undefined ? null : new TextEncoder().encode(body),
    ...(body === undefined ? {} : { contentType: 'application/json' }),
  };
}

async function shown(response: HttpResponse): Promise<Shown> {
  const text = await bodyOf(response);
  const content = text.startsWith('{"surface"') ? (JSON.parse(text) as { content: string }).content : text;
  return { cache: response.headers['x-cache'], content, response };
}

export const bodyOf = ({ body }: Pick<HttpResponse, 'body'>): Promise<string> => textOf(body);

/** A body in chunks. */
export function streamOf(...chunks: readonly string[]): AsyncIterable<Uint8Array> {
  return {
    async *[Symbol.asyncIterator]() {
      for (const chunk of chunks) {
        await Promise.resolve();
        yield new TextEncoder().encode(chunk);
      }
    },
  };
}
