import { ConfigurationError } from '../../domain/shared/errors.js';
import { nearest } from '../../domain/shared/nearest.js';
import type { PlatformPathName } from '../../domain/upstream/platform-api.js';
import { isSafePath } from '../../domain/upstream/safe-path.js';

/**
 * Paths of the platform's API below `serviceApiUrl`. `{id}`, `{name}`, `{action}` and `{projectId}` stand for percent-encoded values.
 *
 * @public
 */
export interface UpstreamPathsConfig {
  /** Asked whether a widget has changed. Default `/surfaces/{id}`. */
  readonly surface?: string | undefined;
  /** Default `/surfaces/by-name/{name}`. */
  readonly surfaceByName?: string | undefined;
  /** Default `/surfaces/{id}/render`. */
  readonly render?: string | undefined;
  /** Default `/surfaces/by-name/{name}/render`. */
  readonly renderByName?: string | undefined;
  /** Default `/surfaces/{id}/actions/{action}`. */
  readonly action?: string | undefined;
  /** Default `/surfaces/by-name/{name}/actions/{action}`. */
  readonly actionByName?: string | undefined;
  /** Default `/surfaces/{id}/theme.css`. */
  readonly theme?: string | undefined;
  /** Default `/surfaces/by-name/{name}/theme.css`. */
  readonly themeByName?: string | undefined;
  /** Gives `{ "id": … }` when `serviceProjectId` is not configured. Default `/project`. */
  readonly project?: string | undefined;
  /** The style sheet of the brand. Default `/brand.css`. */
  readonly brand?: string | undefined;
  /** Where `/api/service/<path>` goes; `{path}` is what the browser sent, as it sent it. Default `/{path}`. */
  readonly conversations?: string | undefined;
}

/**
 * Names of the header fields sent to the platform.
 *
 * @public
 */
export interface UpstreamHeadersConfig {
  /** Carries `serviceApiKey`. Default `x-api-key`. */
  readonly apiKey?: string | undefined;
  /** Carries `serviceProjectId`. Default `x-project-id`. */
  readonly projectId?: string | undefined;
}

/**
 * What the platform's API looks like, where it differs from the usual.
 *
 * @public
 */
export interface UpstreamConfig {
  /** Paths below `serviceApiUrl`. */
  readonly paths?: UpstreamPathsConfig | undefined;
  /** Names of header fields. */
  readonly headers?: UpstreamHeadersConfig | undefined;
}

/** The same, complete; header names in lower case. */
export interface ResolvedUpstream {
  readonly paths: Readonly<Record<PlatformPathName, string>>;
  readonly headers: { readonly apiKey: string; readonly projectId: string };
}

const PATHS: Readonly<Record<PlatformPathName, string>> = {
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
};

const HEADERS: ResolvedUpstream['headers'] = { apiKey: 'x-api-key', projectId: 'x-project-id' };

/** Fields that belong to the message, or to the credential beside the key. */
const TAKEN_HEADERS: ReadonlySet<string> = new Set([
  'authorization',
  'connection',
  'content-encoding',
  'content-length',
  'content-type',
  'cookie',
  'expect',
  'host',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** Names of fields that the site chose. One that is a default is no choice: a further default must not forbid a field that sites forward already. */
export function chosenNames(headers: ResolvedUpstream['headers']): readonly string[] {
  const defaults = Object.values(HEADERS);
  return Object.values(headers).filter((name) => !defaults.includes(name));
}

/**
 * Completes the block `upstream`.
 *
 * @throws ConfigurationError naming the field.
 */
export function resolveUpstream(config: UpstreamConfig = {}): ResolvedUpstream {
  const { paths, headers } = completed('upstream', { paths: {}, headers: {} }, config, isBlock);
  const resolved = {
    paths: completed('upstream.paths', PATHS, paths, isText),
    headers: completed('upstream.headers', HEADERS, headers, isText),
  };
  for (const [name, template] of Object.entries(resolved.paths)) checkTemplate(name as PlatformPathName, template);
  const names = {
    apiKey: headerName('apiKey', resolved.headers),
    projectId: headerName('projectId', resolved.headers),
  };
  if (names.apiKey === names.projectId)
    throw wrong('upstream.headers.projectId', 'Give each value a field of its own.');
  return { paths: resolved.paths, headers: names };
}

/** The defaults with what was set; an empty string is unset. */
function completed<Block extends object>(
  block: string,
  defaults: Block,
  changes: unknown,
  isRight: (value: unknown) => boolean,
): Block {
  const merged = { ...defaults };
  if (changes === undefined) return merged;
  if (!isBlock(changes)) throw wrong(block, 'Set it to an object.');
  for (const [name, value] of Object.entries(changes)) {
    if (!Object.hasOwn(defaults, name)) {
      throw wrong(`${block}.${name}`, `Did you mean "${nearest(name, Object.keys(defaults))}"?`);
    }
    if (value === undefined || value === '') continue;
    if (!isRight(value))
      throw wrong(`${block}.${name}`, isRight === isText ? 'Set it to a string.' : 'Set it to an object.');
    merged[name as keyof Block] = value as Block[keyof Block];
  }
  return merged;
}

/** A path that stays one whatever its values are, and names exactly the values its call has. */
function checkTemplate(name: PlatformPathName, template: string): void {
  const needed = placeholders(PATHS[name]);
  const used = placeholders(template);
  const missing = needed.find((placeholder) => !used.includes(placeholder));
  if (missing !== undefined) throw wrong(`upstream.paths.${name}`, `It needs "{${missing}}".`);
  const unknown = used.find((placeholder) => !needed.includes(placeholder) && placeholder !== 'projectId');
  if (unknown !== undefined) throw wrong(`upstream.paths.${name}`, `This call has no value "{${unknown}}".`);
  const sample = template.replaceAll(/\{\w+\}/g, 'x');
  const isPath = isSafePath(sample) && !/[{}]/.test(sample);
  // What the browser sent may hold slashes, so nothing but the end of a path may be made of it.
  if (!isPath || (name === 'conversations' && !template.endsWith('/{path}'))) {
    throw wrong(`upstream.paths.${name}`, `Set it to a path such as "${PATHS[name]}".`);
  }
}

function placeholders(template: string): readonly string[] {
  return [...template.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
}

function headerName(field: 'apiKey' | 'projectId', headers: ResolvedUpstream['headers']): string {
  const name = headers[field].toLowerCase();
  if (/^[a-z0-9!#$%&'*+.^_`|~-]+$/.test(name) && !TAKEN_HEADERS.has(name)) return name;
  throw wrong(`upstream.headers.${field}`, `Set it to the name of a header field such as "${HEADERS[field]}".`);
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

function isBlock(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function wrong(field: string, hint: string): ConfigurationError {
  return new ConfigurationError({
    detail: `Invalid value for "${field}".`,
    hint,
    block: 'upstream',
    fields: [field],
  });
}
