import type { ServerConfig } from 'agent-bff';
import { beforeEach, describe, expect, it } from 'vitest';
import type { HttpResponse } from '../../src/ports/http.js';
import { ACCEPTED, CARD_OK, clock, examined, json, page, SKIPPED, stopClock, type World } from './examined-agent.js';

beforeEach(stopClock);

describe('the doctor visits the platform', () => {
  const API: ServerConfig = { serviceApiUrl: 'https://platform.example', serviceProjectId: 'p1' };
  const CSS: HttpResponse = { status: 200, headers: { 'content-type': 'text/css' }, body: ':root{--é:1}' };
  const PROJECT = 'ok project: p1, as configured';
  const UNKNOWN_SURFACE = 'Pass an id or a name that the platform knows to --surface on the command line.';
  /** A platform without a brand, with this response to a render after 7 ms. */
  const rendering = (answer: HttpResponse) => (path: string) => {
    if (path.endsWith('.css')) return page(404);
    clock.now += 7;
    return answer;
  };
  const refusedSurface = (says: string): readonly string[] => [
    PROJECT,
    'ok brand: none',
    `failed surface: ${says} | ${UNKNOWN_SURFACE}`,
  ];

  it.each<[string, World, readonly string[], (readonly string[])?]>([
    [
      'that has neither project nor brand',
      { config: { ...API, serviceProjectId: '' }, surface: 'poll' },
      [
        'failed project: The platform was not found at its address. (status 404 from the platform, text/html: <h1>Shop) | Check "serviceApiUrl" and "upstream.paths.project" in configureServer, or set "serviceProjectId".',
        `skipped surface: ${SKIPPED}`,
      ],
      ['project'],
    ],
    [
      'that names its project',
      { config: { ...API, serviceProjectId: '' }, api: (path) => (path === '/project' ? json({ id: 'p2' }) : CSS) },
      ['ok project: p2', 'ok brand: a style sheet of 13 bytes'],
      ['project', 'brand'],
    ],
    [
      'whose brand fails',
      { api: () => json({}, 500), surface: 'poll' },
      [
        PROJECT,
        'failed brand: The platform reported an internal error. (status 500 from the platform, application/json: {}) | If this lasts, ask the operator of the server in "serviceApiUrl" and "upstream.paths.brand" in configureServer.',
        `skipped surface: ${SKIPPED}`,
      ],
      ['project', 'brand'],
    ],
    [
      'whose brand is a page',
      { api: () => page(200), surface: 'poll' },
      [
        PROJECT,
        'warning brand: The address of the platform leads to a web page. (status 200 from the platform, text/html: <h1>Shop) | Check "serviceApiUrl" and "upstream.paths.brand" in configureServer.',
        'ok surface: rendered in 0 ms',
      ],
    ],
    [
      'that renders a surface',
      { api: rendering(json({})), surface: 'poll' },
      [PROJECT, 'ok brand: none', 'ok surface: rendered in 7 ms'],
    ],
    [
      'that does not know a surface',
      { api: rendering(page(404)), surface: 'poll' },
      refusedSurface('the platform responded with status 404 after 7 ms'),
    ],
    [
      'that refuses a surface in its own words',
      { api: rendering(json({ code: 'gone' }, 409)), surface: 'poll' },
      refusedSurface('the platform responded with status 409 after 7 ms'),
    ],
    [
      'that cannot render',
      { api: rendering(json({}, 500)), surface: 'poll' },
      [
        PROJECT,
        'ok brand: none',
        'failed surface: The platform reported an internal error. (status 500 from the platform, application/json: {}) | If this lasts, ask the operator of the server in "serviceApiUrl" in configureServer.',
      ],
    ],
    ['not with a name that no surface can have', { surface: '..' }, refusedSurface('no surface can have this name')],
  ])('%s', async (_title, world, lines, checks = ['project', 'brand', 'surface']) => {
    const { lines: found, begun } = await examined({ ...world, config: { a2aUrl: '', ...API, ...world.config } });
    expect(found).toEqual(lines);
    expect(begun).toEqual(checks);
  });

  it.each([
    ['poll 1', '/surfaces/poll%201/render'],
    ['name:a b', '/surfaces/by-name/a%20b/render'],
    ['name:', '/surfaces/name%3A/render'],
  ])('and renders the surface %j at %s', async (surface, path) => {
    const { paths } = await examined({ config: { a2aUrl: '', ...API }, surface });
    expect(paths.at(-1)).toBe(path);
  });

  it('unless the agent has refused the credential', async () => {
    const { lines, paths } = await examined({ config: API, surface: 'poll', reply: () => json({}, 403) });
    expect(lines.slice(1)).toEqual([
      expect.stringMatching(
        /^failed agent: The platform does not allow the service credential to do this\..*"serviceApiKey" in configureServer/,
      ),
      `skipped surface: ${SKIPPED}`,
    ]);
    expect(paths.filter((path) => path.includes('surface'))).toEqual([]);
  });

  it('and reports a surface that cannot be rendered without an address of the platform', async () => {
    const { lines } = await examined({ surface: 'poll' });
    expect(lines).toEqual([
      CARD_OK,
      ACCEPTED,
      'failed surface: No address is configured for the platform. | Set "serviceApiUrl" in configureServer.',
    ]);
  });

  it('and, without an agent, sends no message', async () => {
    const { lines } = await examined({ config: { a2aUrl: '', ...API }, message: 'Hi' });
    expect(lines).toEqual([PROJECT, 'ok brand: none', `skipped streaming: ${SKIPPED}`]);
  });
});
