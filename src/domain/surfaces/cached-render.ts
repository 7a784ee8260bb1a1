import type { CacheStore } from '../../ports/cache-store.js';
import type { HttpResponse } from '../../ports/http.js';
import { mediaType } from '../shared/body.js';
import { parsedJson } from '../shared/json.js';

/** A stored render. All times are milliseconds since the epoch. */
export interface CachedRender {
  /** Time at which the platform was asked to render it. */
  readonly renderedAt: number;
  /** Time at which it was last known to be current. */
  readonly checkedAt: number;
  /** Both generations it depends on; if one changed, there was an action meanwhile. */
  readonly generation: string;
  /** The entity tag of the widget; empty if unknown. */
  readonly etag: string;
  readonly headers: Record<string, string | readonly string[]>;
  /** Responses share it: bytes in UTF-8, since each response copies a text; a short text, which is cheaper to send. */
  readonly body: string | Uint8Array;
}

/** Stores renders by key. A call that cannot be completed rejects. */
export interface RenderStore {
  get(key: string): Promise<CachedRender | undefined>;
  set(key: string, render: CachedRender, expiresAt: number): Promise<unknown>;
}

const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

/** A store of renders over a store of texts. */
export function textRenders(store: CacheStore): RenderStore {
  return {
    get: async (key) => readCachedRender(await store.get(key)),
    set: (key, render, expiresAt) => store.set(key, writeCachedRender(render), expiresAt),
  };
}

/** Characters of a short text. */
const MAX_SHORT = 16_384;

/** The form in which responses share a text. */
export function sharedBody(text: string): CachedRender['body'] {
  return text.length > MAX_SHORT ? encoder.encode(text) : text;
}

/** One line of metadata, then the body unchanged, so that a long body is never parsed. */
export function writeCachedRender({ body, ...head }: CachedRender): string {
  return `${JSON.stringify(head)}\n${typeof body === 'string' ? body : decoder.decode(body)}`;
}

/** Parses an entry; `undefined` if the store returned something else. */
export function readCachedRender(text: string | undefined): CachedRender | undefined {
  if (text === undefined) return undefined;
  const end = text.indexOf('\n');
  if (end === -1) return undefined;
  const head = parsedJson(text.slice(0, end)) as Partial<CachedRender> | null | undefined;
  const { renderedAt, checkedAt, generation, etag, headers } = head ?? {};
  if (typeof renderedAt !== 'number' || typeof checkedAt !== 'number') return undefined;
  if (typeof generation !== 'string' || typeof etag !== 'string') return undefined;
  if (typeof headers !== 'object' || headers === null) return undefined;
  return { renderedAt, checkedAt, generation, etag, headers, body: sharedBody(text.slice(end + 1)) };
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
