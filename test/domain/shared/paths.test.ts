import { describe, expect, it } from 'vitest';
import { isBelow, withoutTrailingSlashes } from '../../../src/domain/shared/paths.js';

describe('a path', () => {
  it.each([
    ['/api/a2a', true],
    ['/api/a2a/config', true],
    ['/api/a2a?version=1.0', true],
    ['/api/a2abc', false],
    ['/api', false],
  ])('%s belongs to a route mounted at /api/a2a: %s', (path, belongs) => {
    expect(isBelow(path, '/api/a2a')).toBe(belongs);
  });

  it('loses every slash at its end and no other', () => {
    expect(['/a/b///', '/a', '///'].map(withoutTrailingSlashes)).toEqual(['/a/b', '/a', '']);
  });
});
