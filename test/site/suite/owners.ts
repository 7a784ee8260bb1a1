import type { SessionTokenFunction } from 'agent-bff';
import { FakeCacheStore } from 'agent-bff/testing';
import { describe, expect, it } from 'vitest';
import type { Framework } from '../framework.js';
import { ADA, type PlatformWorld, startPlatformWorld } from '../platform-world.js';

const RENDER = '/api/service-surfaces/counter/render';

async function rendered(world: PlatformWorld, headers: Readonly<Record<string, string>> = {}): Promise<unknown> {
  const answer = await world.visit(RENDER, { method: 'POST', body: '{}', headers });
  expect(answer.status).toBe(200);
  return answer.headers['x-cache'];
}

/** Cached renders are shared between processes, but only for the same owner. */
export function ownerSuite(framework: Framework): void {
  /** Processes of one site with a shared platform and store. */
  async function startProcesses(count: number, userOf?: (index: number) => object): Promise<readonly PlatformWorld[]> {
    const cacheStore = new FakeCacheStore({ now: () => Date.now() });
    const worlds: PlatformWorld[] = [];
    for (let index = 0; index < count; index += 1) {
      // It declares a parameter, because a function without one counts as the `auth` of Auth.js.
      const auth: SessionTokenFunction = (_request) => ({
        kind: 'token',
        accessToken: 'token',
        subject: '1',
        ...userOf?.(index),
      });
      const serviceApiUrl = worlds[0] && `${worlds[0].upstream.origin}/platform/v1`;
      const cache = { enabled: true, freshMs: 60_000 };
      const options = { cacheStore, cache, ...(userOf && { auth }), ...(serviceApiUrl && { serviceApiUrl }) };
      worlds.push(await startPlatformWorld(framework, options));
    }
    return worlds;
  }

  describe('a render in a shared store', () => {
    it('is a hit for the same API key, and a miss for another', async () => {
      const [one, other] = (await startProcesses(2)) as [PlatformWorld, PlatformWorld];
      expect([await rendered(one), await rendered(other)]).toEqual(['MISS', 'HIT']);
      expect(one.upstream.requests).toHaveLength(1);
      const cacheStore = new FakeCacheStore({ now: () => Date.now() });
      const serviceApiUrl = `${one.upstream.origin}/platform/v1`;
      const options = { cacheStore, serviceApiUrl, cache: { enabled: true, freshMs: 60_000 } };
      const [before, after] = [
        await startPlatformWorld(framework, options),
        await startPlatformWorld(framework, { ...options, serviceApiKey: 'the-api-key-of-another-tenant' }),
      ];
      expect([await rendered(before), await rendered(after)]).toEqual(['MISS', 'MISS']);
    });

    it('is a hit for the same user, issuer and organization only', async () => {
      const users = [
        { issuer: 'https://staff.example', tenant: 'acme' },
        { issuer: 'https://staff.example', tenant: 'acme' },
        { issuer: 'https://shop.example', tenant: 'acme' },
        { issuer: 'https://staff.example', tenant: 'other' },
        { issuer: 'https://staff.example' },
        { issuer: 'https://staff.example', accessToken: 'of-another-organization' },
      ];
      const worlds = await startProcesses(users.length, (index) => users[index] ?? {});
      const shown: unknown[] = [];
      for (const world of worlds) shown.push(await rendered(world, ADA));
      expect(shown).toEqual(['MISS', 'HIT', 'MISS', 'MISS', 'MISS', 'MISS']);
    });
  });
}
