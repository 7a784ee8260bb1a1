import { describe, expect, it, vi } from 'vitest';
import { siteFindings } from '../../src/composition/cli/deployment-findings.js';
import { lineOf } from './examined-agent.js';

describe('the doctor visits the running site', () => {
  const SITE = 'https://site.example/shop';
  const MOUNT =
    'Mount the routes at /api, before a page that serves all other paths. If the chat is at another address, this check does not know it: set "a2aEndpoint" on the page. Correct "publicUrl" in configureServer.';
  const HANDLE =
    'Mount an error handler after all other middleware of the site, as the recipe for Express in docs/frameworks.md does, and set NODE_ENV to production.';
  const FINE = 'ok error page: shows no stack trace (status 400 for an invalid body)';
  const LEAKS = `warning error page: shows visitors a stack trace for an invalid body | ${HANDLE}`;
  const page = (text: string, status = 400, type = 'application/json') =>
    new Response(text, { status, headers: { 'content-type': type } });
  const strayed = (path: string, says: string) =>
    `warning chat address: ${SITE}${path} responded with ${says}, which is not a response of the chat | ${MOUNT}`;

  it.each<[string, () => Response, () => Response, readonly string[]]>([
    ['of the chat', () => page('{}'), () => page('{}', 200), [FINE]],
    ['with an event stream', () => page('{}'), () => page('', 200, 'text/event-stream; charset=utf-8'), [FINE]],
    ['with a stack in a text', () => page('Error: x\n  at a (b.js:1:2)'), () => page('{}', 200), [LEAKS]],
    ['with a stack in a page', () => page('x<br> &nbsp;at b.js:1:23'), () => page('{}', 200), [LEAKS]],
    ['with words like a stack', () => page('at noon\nthat (b.js:1:2)'), () => page('{}', 200), [FINE]],
    [
      'of a page at every address',
      () => page('<h1>', 200, 'text/html'),
      () => page('<h1>', 200, 'text/html'),
      [strayed('/api/a2a', 'status 200 and text/html'), FINE.replace('400', '200')],
    ],
    [
      'without the route of the configuration',
      () => page('{}'),
      () => page('{}', 404),
      [strayed('/api/a2a/config', 'status 404 and application/json'), FINE],
    ],
    [
      'without the method of the chat',
      () => page('{}', 405),
      () => page('{}', 200),
      [strayed('/api/a2a', 'status 405 and application/json'), FINE.replace('400', '405')],
    ],
    [
      'with a sign-in',
      () => page('{}'),
      () => new Response(null, { status: 302 }),
      [strayed('/api/a2a/config', 'status 302 and no type'), FINE],
    ],
    ['with an error', () => page('{}'), () => page('<h1>', 500, 'text/html'), [FINE]],
  ])('%s', async (_what, chat, config, lines) => {
    const asked: [string, RequestInit][] = [];
    vi.stubGlobal('fetch', async (url: string, init: RequestInit) => {
      asked.push([url, init]);
      return url.endsWith('/config') ? config() : chat();
    });
    expect((await siteFindings(SITE)).map(lineOf)).toEqual(lines);
    const signal = expect.any(AbortSignal) as AbortSignal;
    expect(asked).toEqual([
      [
        `${SITE}/api/a2a`,
        { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{', redirect: 'manual', signal },
      ],
      [`${SITE}/api/a2a/config`, { redirect: 'manual', signal }],
    ]);
  });

  it('that does not respond, and says to try again', async () => {
    vi.stubGlobal('fetch', () => Promise.reject(new TypeError('fetch failed')));
    const message = 'https://site.example does not respond; try again when the site runs';
    expect(await siteFindings(SITE)).toEqual([{ check: 'error page', result: 'skipped', message }]);
  });
});
