import type { HeaderFields, HttpResponse } from '../../ports/http.js';
import { parsedJson } from '../shared/json.js';
import { mediaType } from '../shared/media-type.js';

/** A render in the cache. All times in milliseconds since the epoch. */
export interface CachedRender {
  /** When the platform was asked to render it. */
  readonly renderedAt: number;
  /** When it was last known to be what the platform would render. */
  readonly checkedAt: number;
  /** What it depends on; another generation means that an action came in between. */
  readonly generation: string;
  /** The entity tag of the widget; empty when it is not known. */
  readonly etag: string;
  readonly headers: Record<string, string | readonly string[]>;
  readonly body: string;
}

/** One line that says what it is, then the body as it is: a long body is never parsed. */
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

/** Whether the platform's response is one that may be kept. */
export function isCacheable({
  status,
  headers,
  closeDelimited,
}: Pick<HttpResponse, 'status' | 'headers' | 'closeDelimited'>): boolean {
  // Half a render would be served as a whole one for as long as it is kept.
  if (closeDelimited === true) return false;
  if (status !== 200 || headers['set-cookie'] !== undefined) return false;
  if (/(?:^|[\s,])no-store(?:$|[\s,;=])/i.test(joined(headers, 'cache-control'))) return false;
  // Every other field the platform may vary by is either in the key or never sent.
  if (
    joined(headers, 'vary')
      .split(',')
      .some((name) => name.trim() === '*')
  )
    return false;
  const coding = headers['content-encoding'];
  return (coding === undefined || coding === 'identity') && isText(mediaType(headers));
}

function isText(type: string): boolean {
  if (type === 'text/event-stream') return false;
  return type.startsWith('text/') || /^application\/(?:[\w.-]+\+)?(?:json|xml)$/.test(type);
}

function joined(headers: HeaderFields, name: string): string {
  const field = headers[name];
  return typeof field === 'string' ? field : (field ?? []).join(',');
}
