import { createServer } from 'node:http';
import { describe, expect, it } from 'vitest';
import { SendBudget } from '../../src/adapters/node/send-budget.js';
import type { HttpBody, HttpHandler } from '../../src/ports/http.js';
import { RawClient } from './raw-client.js';
import { StalledVisitor } from './stalled-visitor.js';
import { type Listener, serve } from './whole-bodies.js';

export const MIB = 1_048_576;

/** Responds to `/8` with 8 MiB at once, and to a path that is not a number with a stream that the test ends. */
export function sizedHandler(endings: (() => void)[] = []): HttpHandler {
  return ({ path }) => {
    const size = Number(path.slice(1));
    const body: HttpBody = Number.isNaN(size) ? held(endings) : Buffer.alloc(size * MIB, 'x');
    return Promise.resolve({ status: 200, headers: {}, body });
  };
}

async function* held(endings: (() => void)[]): AsyncGenerator<Uint8Array> {
  yield Buffer.from('begun');
  await new Promise<void>((resolve) => endings.push(resolve));
}

/** The memory of responses in a host that serves handlers at `/api/a2a`. */
export function fullBudgetSuite(listenerOf: (handler: HttpHandler, budget: SendBudget) => Listener): void {
  describe('the memory of waiting responses', () => {
    it('closes only the connection that uses most of it when full', async () => {
      const budget = new SendBudget(60 * MIB);
      const { url } = await serve(createServer(), listenerOf(sizedHandler(), budget));
      const fields = 'Connection: close\r\n';
      const holds = async (mib: number): Promise<StalledVisitor> => {
        const before = budget.heldBytes;
        const visitor = await StalledVisitor.arrive(url, `/api/a2a/${String(mib)}`, fields);
        await expect.poll(() => budget.heldBytes).not.toBe(before);
        return visitor;
      };
      const small = await holds(16);
      const large = await holds(32);
      expect(budget.heldBytes).toBeGreaterThan(48 * MIB);
      const newcomer = await holds(24);
      expect(await large.readOn()).toBeLessThan(32 * MIB);
      expect(await small.readOn()).toBeGreaterThan(16 * MIB);
      expect(await newcomer.readOn()).toBeGreaterThan(24 * MIB);
      await expect.poll(() => budget.heldBytes).toBe(0);
    });

    it('includes the fields of requests that wait behind a stream, until the stream ends', async () => {
      const budget = new SendBudget(Infinity);
      const endings: (() => void)[] = [];
      const { url } = await serve(createServer(), listenerOf(sizedHandler(endings), budget));
      const visitor = await RawClient.connect(url);
      const get = (path: string, field = ''): string =>
        `GET /api/a2a/${path} HTTP/1.1\r\nhost: site.example\r\n${field}\r\n`;
      const long = `x-long: ${'x'.repeat(10_000)}\r\n`;
      await visitor.send(get('stream') + get('1', long).repeat(3) + get('1', `${long}connection: close\r\n`));
      await visitor.until('begun');
      await expect.poll(() => budget.heldBytes).toBeGreaterThan(40_000);
      for (const end of endings) end();
      expect((await visitor.ending()).split('x')).toHaveLength(4 * MIB + 1);
      await expect.poll(() => budget.heldBytes).toBe(0);
    });

    it('is freed when such a connection ends', async () => {
      const budget = new SendBudget(Infinity);
      const { url } = await serve(createServer(), listenerOf(sizedHandler(), budget));
      const visitor = await RawClient.connect(url);
      await visitor.send('GET /api/a2a/stream HTTP/1.1\r\nhost: site.example\r\n\r\n');
      await visitor.send('GET /api/a2a/1 HTTP/1.1\r\nhost: site.example\r\n\r\n');
      await expect.poll(() => budget.heldBytes).toBeGreaterThan(0);
      visitor.close();
      await expect.poll(() => budget.heldBytes).toBe(0);
    });
  });
}
