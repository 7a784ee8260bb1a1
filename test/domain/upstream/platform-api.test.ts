import { describe, expect, it } from 'vitest';
import { type PlatformApi, platformFields, platformTarget } from '../../../src/domain/upstream/platform-api.js';
import { API } from '../surfaces/surface-world.js';

/** The address of a render below `path`, with `template` configured. */
function address(template: string, values: Readonly<Record<string, string>>, changes: Partial<PlatformApi> = {}) {
  const { origin, path } = platformTarget(
    { ...API, paths: { ...API.paths, render: template }, ...changes },
    'render',
    values,
  );
  return origin + path;
}

const below = (path: string): Partial<PlatformApi> => ({ endpoint: { origin: 'https://platform.example', path } });

describe('the address of a call to the platform', () => {
  it.each([
    ['/', 'https://platform.example/surfaces/counter'],
    ['/api', 'https://platform.example/api/surfaces/counter'],
    ['/api//', 'https://platform.example/api/surfaces/counter'],
    ['/a//b/', 'https://platform.example/a//b/surfaces/counter'],
  ])('is below the configured one: %s', (path, expected) => {
    expect(address('/surfaces/{id}', { id: 'counter' }, below(path))).toBe(expected);
  });

  it('contains each value as one segment', () => {
    expect(address('/{id}/{action}', { id: 'a/../b', action: '?x#y' })).toBe(
      'https://platform.example/api/a%2F..%2Fb/%3Fx%23y',
    );
  });

  it('is undefined without a value', () => {
    expect(address('/{id}/end', {})).toBe('https://platform.example/api//end');
  });

  it('keeps a safe path', () => {
    expect(address('/records/{path}', { path: 'a/%41/' })).toBe('https://platform.example/api/records/a/%41/');
  });

  it("contains the configured project, never the caller's", () => {
    const values = { projectId: 'theirs', id: 'counter' };
    expect(address('/{projectId}/{id}', values, { projectId: 'our/own' })).toBe(
      'https://platform.example/api/our%2Fown/counter',
    );
  });

  it('is an error that names the field when it is missing', () => {
    expect(() => address('/{id}', {}, { endpoint: undefined })).toThrow(
      expect.objectContaining({ code: 'service_auth_failed', fields: ['serviceApiUrl'] }),
    );
    expect(() => address('/{projectId}', {}, { projectId: '' })).toThrow(
      expect.objectContaining({
        name: 'ServiceAuthError',
        code: 'service_auth_failed',
        detail: 'No project is configured.',
        hint: 'Set "serviceProjectId" in configureServer: a path in "upstream" needs it.',
        block: 'configureServer',
        fields: ['serviceProjectId'],
      }),
    );
  });
});

describe('every call to the platform', () => {
  it('has the project in its header field', () => {
    expect(platformFields({ ...API, projectId: 'proj-7', projectIdHeader: 'x-tenant' })).toEqual({
      'x-tenant': 'proj-7',
    });
    expect(platformFields({ ...API, projectId: '' })).toEqual({});
  });
});
