import type { HeaderFields } from '../../ports/http.js';
import { notSet } from '../credentials/credential.js';
import { type CallTimeouts, type Endpoint, type PlatformCall, requireEndpoint } from './platform-call.js';
import { withoutTrailingSlashes } from '../shared/paths.js';

/** The calls below `serviceApiUrl`, each with its own path, and the path unless the site configures another. */
export const PLATFORM_PATHS = {
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
} as const;

export type PlatformPathName = keyof typeof PLATFORM_PATHS;

/** The platform's own API: its address, and the fields sent to it besides a credential. */
export interface PlatformApi {
  /** Absent until `serviceApiUrl` is configured. */
  readonly endpoint: Endpoint | undefined;
  /** Templates such as `/surfaces/{id}/render`, checked with the configuration. */
  readonly paths: Readonly<Record<PlatformPathName, string>>;
  /** The configured project; empty if there is none. */
  readonly projectId: string;
  /** Name of the field that carries the project, in lower case. */
  readonly projectIdHeader: string;
  /**
   * Distinguishes this platform (address, project, paths, field names) from others that share a store; the same in
   * every process of a site.
   */
  readonly platformKey: string;
}

export interface PlatformApiCalls {
  readonly call: PlatformCall;
  readonly timeouts: CallTimeouts;
  readonly api: PlatformApi;
}

/**
 * Throws if a call has no address, without making it.
 *
 * @throws ServiceAuthError as `platformTarget` does.
 */
export function requireTarget(api: PlatformApi, name: PlatformPathName): void {
  requireEndpoint('serviceApiUrl', api.endpoint);
  if (api.paths[name].includes('{projectId}')) requireProject(api.projectId);
}

/**
 * The address of a call. Values are percent-encoded, so they cannot add a segment; `path` is appended unchanged and
 * must be a safe one.
 *
 * @throws ServiceAuthError when the address of the platform, or a project the path needs, is not configured.
 */
export function platformTarget(
  api: PlatformApi,
  name: PlatformPathName,
  values: Readonly<Record<string, string>>,
): Endpoint {
  const { origin, path: base } = requireEndpoint('serviceApiUrl', api.endpoint);
  let path = withoutTrailingSlashes(base);
  // Concatenated: `replace` with a function is several times slower, and this runs for every cached render.
  const template = api.paths[name];
  for (let from = 0; ;) {
    const open = template.indexOf('{', from);
    if (open === -1) return { origin, path: path + template.slice(from) };
    const close = template.indexOf('}', open);
    path += template.slice(from, open) + valueOf(template.slice(open + 1, close), api, values);
    from = close + 1;
  }
}

function valueOf(field: string, { projectId }: PlatformApi, values: Readonly<Record<string, string>>): string {
  if (field === 'projectId') return encodeURIComponent(requireProject(projectId));
  const value = values[field] ?? '';
  return field === 'path' ? value : encodeURIComponent(value);
}

/** The fields that every call to the platform's API carries. */
export function platformFields({ projectId, projectIdHeader }: PlatformApi): HeaderFields {
  return projectId === '' ? {} : { [projectIdHeader]: projectId };
}

function requireProject(projectId: string): string {
  if (projectId !== '') return projectId;
  const hint = 'Set "serviceProjectId" in configureServer: a path in "upstream" needs it.';
  throw notSet('No project is configured.', hint, 'serviceProjectId');
}
