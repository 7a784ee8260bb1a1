import { describe, expect, it } from 'vitest';
import { resolveConfig } from '../../src/composition/config/resolve-config.js';
import { chosenNames, type UpstreamConfig } from '../../src/composition/config/upstream-config.js';

const resolveUpstream = (upstream?: UpstreamConfig) => resolveConfig({ upstream }).upstream;

describe("the platform's API", () => {
  it('has these paths and header fields by default', () => {
    expect(resolveUpstream()).toEqual({
      paths: {
        surface: '/surfaces/{id}',
        surfaceByName: '/surfaces/by-name/{name}',
        render: '/surfaces/{id}/render',
        renderByName: '/surfaces/by-name/{name}/render',
        action: '/surfaces/{id}/actions/{action}',
        actionByName: '/surfaces/by-name/{name}/actions/{action}',
        theme: '/surfaces/{id}/theme.css',
        themeByName: '/surfaces/by-name/{name}/theme.css',
        project: '/project',
        brand: '/brand.css',
        conversations: '/{path}',
      },
      headers: { apiKey: 'x-api-key', projectId: 'x-project-id' },
    });
  });

  it('can be overridden path by path and field by field', () => {
    const resolved = resolveUpstream({
      paths: {
        render: '/v2/{projectId}/widgets/{id}:render',
        conversations: '/v2/{path}',
        brand: '',
        theme: undefined,
      },
      headers: { apiKey: 'X-Key' },
    });
    expect(resolved).toMatchObject({
      paths: {
        render: '/v2/{projectId}/widgets/{id}:render',
        conversations: '/v2/{path}',
        brand: '/brand.css',
        theme: '/surfaces/{id}/theme.css',
      },
      headers: { apiKey: 'x-key', projectId: 'x-project-id' },
    });
  });

  it.each<[UpstreamConfig | object, string, string]>([
    [{ path: {} }, 'path', 'Did you mean "paths"?'],
    [{ paths: { rendr: '/x/{id}' } }, 'paths.rendr', 'Did you mean "render"?'],
    [{ headers: { apikey: 'x' } }, 'headers.apikey', 'Did you mean "apiKey"?'],
    [{ paths: { render: 7 } }, 'paths.render', 'Set it to a string.'],
    [{ paths: '/x' }, 'paths', 'Set it to an object.'],
    [{ paths: { render: '/x' } }, 'paths.render', 'It needs "{id}".'],
    [{ paths: { action: '/x/{id}' } }, 'paths.action', 'It needs "{action}".'],
    [{ paths: { project: '/x/{id}' } }, 'paths.project', 'This call has no value "{id}".'],
    [{ paths: { render: 'x/{id}' } }, 'paths.render', 'Set it to a path such as "/surfaces/{id}/render".'],
    [{ paths: { render: '//evil.example/{id}' } }, 'paths.render', 'Set it to a path such as "/surfaces/{id}/render".'],
    [{ paths: { render: '/../{id}' } }, 'paths.render', 'Set it to a path such as "/surfaces/{id}/render".'],
    [{ paths: { render: '/{id}?a=1' } }, 'paths.render', 'Set it to a path such as "/surfaces/{id}/render".'],
    [{ paths: { render: '/{id}/{' } }, 'paths.render', 'Set it to a path such as "/surfaces/{id}/render".'],
    [{ paths: { conversations: '/x{path}' } }, 'paths.conversations', 'Set it to a path such as "/{path}".'],
    [{ paths: { conversations: '/{path}/x' } }, 'paths.conversations', 'Set it to a path such as "/{path}".'],
    [{ headers: { apiKey: 'x y' } }, 'headers.apiKey', 'Set it to the name of a header field such as "x-api-key".'],
    [
      { headers: { apiKey: 'Authorization' } },
      'headers.apiKey',
      'Set it to the name of a header field such as "x-api-key".',
    ],
    [{ headers: { projectId: 'X-API-Key' } }, 'headers.projectId', 'Set a different field for each value.'],
  ])('is rejected with the field and a hint: %j', (config, field, hint) => {
    expect(() => resolveUpstream(config)).toThrow(
      expect.objectContaining({
        code: 'configuration_invalid',
        block: 'upstream',
        fields: [field],
        detail: expect.stringMatching(
          `^(Unknown|Invalid) .*"${field}" in the "upstream" configuration block\\.$`,
        ) as string,
        hint,
      }),
    );
  });

  it('excludes its configured field names from forwarding, not its default ones', () => {
    const chosen = (headers: UpstreamConfig['headers']) => chosenNames(resolveUpstream({ headers }).headers);
    expect([chosen(undefined), chosen({ projectId: 'X-Tenant' })]).toEqual([[], ['x-tenant']]);
  });
});
