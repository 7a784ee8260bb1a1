import { within } from '../oauth/deadline.js';
import type { Fetch } from './fetch.js';

/** What came back for a request. */
export interface ProviderAnswer {
  readonly status: number;
  /** The JSON object in it; undefined when it is anything else. */
  readonly body: Readonly<Record<string, unknown>> | undefined;
  /** The value of `Retry-After`. */
  readonly retryAfter: string | null;
}

/** A request, and the signal that ends it. */
export interface ProviderRequest {
  readonly method: 'GET' | 'POST';
  readonly url: string;
  readonly headers: Record<string, string>;
  readonly body?: string;
  readonly deadline: AbortSignal;
}

/** Sends one request and reads the answer to its end, both before the deadline. */
export function sendRequest(fetch: Fetch, request: ProviderRequest): Promise<ProviderAnswer> {
  return within(request.deadline, exchange(fetch, request));
}

async function exchange(fetch: Fetch, { url, deadline, ...request }: ProviderRequest): Promise<ProviderAnswer> {
  if (!url.startsWith('https:')) throw Object.assign(new Error('not an https address'), { code: 'ERR_NOT_HTTPS' });
  const response = await fetch(url, { ...request, redirect: 'manual', signal: deadline });
  const body = jsonObject(await response.text());
  return { status: response.status, body, retryAfter: response.headers.get('retry-after') };
}

function jsonObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isObject ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
