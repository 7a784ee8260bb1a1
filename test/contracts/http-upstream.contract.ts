import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { HttpBody, HttpResponse, HttpUpstream, UpstreamOutcome, UpstreamRequest } from '../../src/ports/http.js';

/** A response of the platform: a head, then chunks. With `breaks`, the connection is reset after them. */
export interface PlatformAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly chunks: readonly string[];
  readonly breaks?: boolean;
}

/** An upstream and the platform it calls. */
export interface HttpUpstreamCase {
  readonly upstream: HttpUpstream;
  readonly origin: string;
  /** Sets the response to later requests. */
  willAnswer(answer: PlatformAnswer): void;
  /** Makes later requests fail for the reason `unreachable` or `reset`. */
  willBeGone(): void;
  /** The requests received, oldest first: method, raw target, body, and the value of `x-test`. */
  received(): readonly { method: string; path: string; body: string; field: string }[];
  close(): Promise<void>;
}

/** An ordinary request to the platform. */
export function upstreamRequest(origin: string, changes: Partial<UpstreamRequest> = {}): UpstreamRequest {
  return {
    method: 'POST',
    origin,
    path: '/agent',
    headers: { 'content-type': 'application/json' },
    body: '{}',
    signal: new AbortController().signal,
    headersMs: 5_000,
    bodyIdleMs: 0,
    ...changes,
  };
}

/** The response of an outcome; throws for a failure. */
export function responseOf(outcome: UpstreamOutcome): HttpResponse {
  if (outcome.kind === 'failure') throw new Error(`${outcome.reason}: ${outcome.log}`);
  return outcome.response;
}

/** All bytes of a body, as text. */
export async function textOf(body: HttpBody): Promise<string> {
  if (body === null) return '';
  if (typeof body === 'string') return body;
  if (body instanceof Uint8Array) return new TextDecoder().decode(body);
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

/** The contract of every `HttpUpstream`, including the fakes. */
export function httpUpstreamContract(name: string, make: () => Promise<HttpUpstreamCase>): void {
  describe(`${name} as an upstream`, () => {
    let world: HttpUpstreamCase;
    beforeEach(async () => {
      world = await make();
    });
    afterEach(async () => {
      await world.close();
    });

    const send = (changes: Partial<UpstreamRequest> = {}): Promise<UpstreamOutcome> =>
      world.upstream.send(upstreamRequest(world.origin, changes));

    it('sends a request as it was built', async () => {
      world.willAnswer({ status: 200, headers: {}, chunks: [] });
      const path = '/a/b%2Fc?x=1&x=2&y=%20+';
      await textOf(responseOf(await send({ path, headers: { 'x-test': 'yes' }, body: 'grüezi' })).body);
      await textOf(responseOf(await send({ method: 'GET', path: '/', body: null })).body);
      expect(world.received()).toEqual([
        { method: 'POST', path, body: 'grüezi', field: 'yes' },
        { method: 'GET', path: '/', body: '', field: '' },
      ]);
    });

    it('returns the status, the fields in lower case and all bytes of a response', async () => {
      world.willAnswer({ status: 207, headers: { 'x-answer': 'one' }, chunks: ['grü', 'ezi'] });
      const { status, headers, body } = responseOf(await send());
      expect(status).toBe(207);
      expect(headers).toMatchObject({ 'x-answer': 'one' });
      expect(await textOf(body)).toBe('grüezi');
    });

    it('returns a repeated field as a list', async () => {
      world.willAnswer({ status: 200, headers: { 'set-cookie': ['a=1', 'b=2'] }, chunks: [] });
      expect(responseOf(await send()).headers['set-cookie']).toEqual(['a=1', 'b=2']);
    });

    it.each([302, 401, 404, 500])('returns a %i like any other response, after one request', async (status) => {
      world.willAnswer({ status, headers: { location: '/elsewhere' }, chunks: ['text'] });
      const response = responseOf(await send());
      expect(response.status).toBe(status);
      expect(await textOf(response.body)).toBe('text');
      expect(world.received()).toHaveLength(1);
    });

    it('throws from the body iterator after the received bytes when the connection breaks', async () => {
      world.willAnswer({ status: 200, headers: {}, chunks: ['one'], breaks: true });
      const { body } = responseOf(await send());
      const seen: string[] = [];
      await expect(
        (async () => {
          for await (const chunk of body as AsyncIterable<Uint8Array>) seen.push(Buffer.from(chunk).toString());
        })(),
      ).rejects.toThrow();
      expect(seen.join('')).toBe('one');
    });

    it('returns a failure with reason and detail when the platform is gone, without throwing', async () => {
      world.willBeGone();
      const outcome = await send();
      expect(outcome).toMatchObject({
        kind: 'failure',
        reason: expect.stringMatching(/^(unreachable|reset)$/) as string,
      });
      if (outcome.kind === 'failure') expect(outcome.log).not.toBe('');
    });

    it('can be closed, even when no request was sent', async () => {
      await expect(world.upstream.close()).resolves.toBeUndefined();
      await expect(world.upstream.close({ graceMs: 0 })).resolves.toBeUndefined();
    });
  });
}
