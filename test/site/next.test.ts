import { beforeAll, describe, expect, it } from 'vitest';
import { A_BUILD_MS, buildNextExample, nextIsInstalled } from '../support/next-example.js';
import { visit } from '../support/visitor.js';
import type { HostMiddleware } from './framework.js';
import { nextSite } from './frameworks/next.js';
import { siteSuite } from './site-suite.js';
import { startWorld } from './world.js';

describe.skipIf(!nextIsInstalled)('a site built with Next', () => {
  beforeAll(buildNextExample, A_BUILD_MS);

  siteSuite(nextSite('Next 16'));

  it('keeps the fields of the host, such as those of CORS and its cookies, on an answer, an error and the configuration', async () => {
    const origin = 'https://shop.example';
    const before: HostMiddleware = (_request, response, next) => {
      response.setHeader('access-control-allow-origin', origin);
      response.setHeader('vary', 'Origin');
      response.setHeader('set-cookie', 'sid=1');
      next();
    };
    const { chat, url } = await startWorld(nextSite('Next 16'), { before, allowedOrigins: [origin] });
    const replies = [
      await chat({ headers: { origin } }),
      await chat({ headers: { origin: 'https://evil.example' } }),
      await visit(url, { method: 'GET', path: '/api/a2a/config', headers: { origin } }),
    ];
    expect(replies.map(({ status }) => status)).toEqual([200, 403, 200]);
    for (const { headers } of replies) {
      expect(headers['access-control-allow-origin']).toBe(origin);
      expect(headers['set-cookie']).toEqual(['sid=1']);
      expect(headers.vary?.toLowerCase().split(/, */)).toContain('origin');
    }
    expect(replies[2]?.headers.vary).toMatch(/A2A-Version, Cookie/i);
  });
});
