import { rateLimiter } from 'agent-bff';
import { RateLimiterMemory } from 'rate-limiter-flexible';
import { describe, expect, it } from 'vitest';
import type { Framework } from '../framework.js';
import { readFailure, reasonOf, startWorld } from '../world.js';

/** The visitor of a Node or Web request. Some servers do not expose an address. */
function visitorOf(request: { headers: Headers | Readonly<Record<string, string>> }): string {
  const { headers } = request;
  return (headers instanceof Headers ? headers.get('x-visitor') : headers['x-visitor']) ?? '';
}

const limited = (points: number) => ({
  chatLimit: rateLimiter(new RateLimiterMemory({ points, duration: 60 }), { visitor: visitorOf }),
});
const ada = { headers: { 'x-visitor': 'ada' } };
const grace = { headers: { 'x-visitor': 'grace' } };

/** The limit of messages for one anonymous visitor. */
export function limitSuite(framework: Framework): void {
  describe('a visitor who sends more messages than the site allows', () => {
    it('gets a 429 with Retry-After without a call to the agent', async () => {
      const world = await startWorld(framework, limited(1));
      expect((await world.chat(ada)).status).toBe(200);
      const reply = await world.chat(ada);
      expect(reply.status).toBe(429);
      expect(Number(reply.headers['retry-after'])).toBeGreaterThan(50);
      const failure = await readFailure(world, reply);
      expect(reasonOf(failure)).toBe('RATE_LIMITED');
      expect(failure.error.message).toMatch(/Try again in \d+ seconds\./);
      expect(world.upstream.requests).toHaveLength(1);
      // Other visitors have limits of their own.
      expect((await world.chat(grace)).status).toBe(200);
    });
  });

  it('a failing limit lets messages through with a warning', async () => {
    const limiter = { consume: () => Promise.reject(new Error('the store is down')) };
    const world = await startWorld(framework, { chatLimit: rateLimiter(limiter, { visitor: visitorOf }) });
    expect((await world.chat(ada)).status).toBe(200);
    expect(world.telemetry.of('warning')).toMatchObject([{ code: 'limit_unknown' }]);
  });
}
