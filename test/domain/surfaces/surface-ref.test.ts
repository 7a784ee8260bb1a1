import { describe, expect, it } from 'vitest';
import { methodsOf, surfaceNames, type SurfaceRoute, surfaceRoute } from '../../../src/domain/surfaces/surface-ref.js';
import { PATH_CORPUS } from '../../support/path-corpus.js';

/** The upstream path of a route, independent of the code that sends it. */
function target(route: SurfaceRoute | undefined): string | null {
  if (route === undefined) return null;
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
    expect(target(surfaceRoute(path))).toBe(surface);
  });

  it('has the decoded surface and action', () => {
    expect(surfaceRoute('/by-name/my%20list/actions/gr%C3%B6%C3%9Fe')).toEqual({
      operation: 'action',
      ref: { by: 'name', value: 'my list' },
      action: 'größe',
    });
  });

  it('addresses the surface by id by default', () => {
    expect(surfaceRoute('/counter/render')).toEqual({ operation: 'render', ref: { by: 'id', value: 'counter' } });
  });

  it.each(['/counter/theme.css', '/by-name/counter/theme.css'])('%s is a theme for GET and HEAD', (path) => {
    expect(methodsOf(surfaceRoute(path) as SurfaceRoute)).toEqual(['GET', 'HEAD']);
  });

  it.each(['/counter/render', '/by-name/counter/render', '/counter/actions/add'])('%s is for POST only', (path) => {
    expect(methodsOf(surfaceRoute(path) as SurfaceRoute)).toEqual(['POST']);
  });

  it('has no route when it is invalid', () => {
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
      expect(surfaceRoute(path)).toBeUndefined();
    }
  });
});

describe('the names of a surface in a response', () => {
  it.each<[text: string | undefined, id?: string | undefined, name?: string]>([
    ['{"surface":{"id":"a","name":"b"}}', 'a', 'b'],
    [' { "x" : 1 , "surface" : { "x" : 1 , "name" : "gr\\u00f6\u00dfe" , "id" : "a" } } ', 'a', 'gr\u00f6\u00dfe'],
    ['{"surface":{"id":"a"},"surface":{"id":"b","id":"c"}}', 'c'],
    ['{"surface":{"ix":"a","xd":"b","idd":"c","name":"d"}}', undefined, 'd'],
    ['{"surface":{"id":7,"name":null}}'],
    ['{"surface":["id","name"]}'],
    ['{"id":"a","name":"b"}'],
    ['["surface"]'],
    // Not JSON, or only up to there.
    ['{"surface":{"id":"a"}} x'],
    ['{"surface":{"id":"a"},'],
    ['<h1>surface</h1>'],
    [''],
    [undefined],
  ])('in %j are %j and %j', (text, id, name) => {
    expect(surfaceNames(text === undefined ? undefined : new TextEncoder().encode(text))).toEqual({ id, name });
  });
});
