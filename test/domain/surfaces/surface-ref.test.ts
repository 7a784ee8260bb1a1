import { describe, expect, it } from 'vitest';
import { matchSurface, type SurfaceMatch } from '../../../src/domain/surfaces/surface-ref.js';
import { PATH_CORPUS } from '../../support/path-corpus.js';

/** The upstream path of a match, independent of the code that sends it. */
function target(match: SurfaceMatch): string | null {
  if (match.kind !== 'route') return null;
  const { route } = match;
  const surface = `/surfaces/${route.ref.by === 'name' ? 'by-name/' : ''}${encodeURIComponent(route.ref.value)}`;
  switch (route.operation) {
    case 'render':
      return `${surface}/render`;
    case 'action':
      return `${surface}/actions/${encodeURIComponent(route.action)}`;
    case 'theme':
      return `${surface}/theme.css`;
  }
}

describe('a path below the surface route', () => {
  it.each(PATH_CORPUS)('with $what ($path) maps to $surface', ({ path, surface }) => {
    expect(target(matchSurface('POST', path))).toBe(surface);
  });

  it('has the decoded surface and action', () => {
    expect(matchSurface('POST', '/by-name/my%20list/actions/gr%C3%B6%C3%9Fe')).toEqual({
      kind: 'route',
      route: { operation: 'action', ref: { by: 'name', value: 'my list' }, action: 'größe' },
    });
  });

  it('addresses the surface by id by default', () => {
    expect(matchSurface('POST', '/counter/render')).toEqual({
      kind: 'route',
      route: { operation: 'render', ref: { by: 'id', value: 'counter' } },
    });
  });

  it.each(['/counter/theme.css', '/by-name/counter/theme.css'])('%s is a theme for GET and HEAD', (path) => {
    for (const method of ['GET', 'HEAD']) expect(matchSurface(method, path)).toMatchObject({ kind: 'route' });
    expect(matchSurface('POST', path)).toEqual({ kind: 'method-not-allowed', allow: 'GET, HEAD' });
  });

  it.each(['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'post'])(
    'does not allow %s except for a theme',
    (method) => {
      for (const path of ['/counter/render', '/by-name/counter/render', '/counter/actions/add']) {
        expect(matchSurface(method, path)).toEqual({ kind: 'method-not-allowed', allow: 'POST' });
      }
    },
  );

  it('is not found by any method when it is invalid', () => {
    for (const path of [
      '/counter',
      '/counter/theme',
      '/counter/theme.css/',
      '/counter/theme.css/more',
      '/counter/render/more',
      '/counter/actions',
      '/counter/actions/..',
      '/../theme.css',
      '/by-name/../theme.css',
      '/by-name',
    ]) {
      for (const method of ['GET', 'POST', 'DELETE']) expect(matchSurface(method, path)).toEqual({ kind: 'not-found' });
    }
  });
});
