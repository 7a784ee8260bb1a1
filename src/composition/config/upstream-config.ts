import { MESSAGE_FIELDS } from '../../domain/shared/message-fields.js';
import { type OptionCheck, type OptionShape, text } from '../../domain/shared/options.js';
import { invalidField } from '../../domain/shared/setting.js';
import { PLATFORM_PATHS } from '../../domain/upstream/platform-api.js';
import { isSafePath } from '../../domain/upstream/safe-path.js';

/**
 * Paths of the platform's API below `serviceApiUrl`. `{id}`, `{name}`, `{action}` and `{projectId}` are replaced with
 * percent-encoded values.
 *
 * @public
 */
export interface UpstreamPathsConfig {
  /** Called to check if a widget has changed. Default `/surfaces/{id}`. */
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
  /** Returns `{ "id": … }` if `serviceProjectId` is not configured. Default `/project`. */
  readonly project?: string | undefined;
  /** The style sheet of the brand. Default `/brand.css`. */
  readonly brand?: string | undefined;
  /** Target of `/api/service/<path>`; `{path}` is the path exactly as the browser sent it. Default `/{path}`. */
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
 * Paths and header names of the platform's API, if they differ from the defaults.
 *
 * @public
 */
export interface UpstreamConfig {
  /** Paths below `serviceApiUrl`. */
  readonly paths?: UpstreamPathsConfig | undefined;
  /** Names of header fields. */
  readonly headers?: UpstreamHeadersConfig | undefined;
}

/** Every path and header name, with defaults; header names in lower case. */
export interface ResolvedUpstream {
  readonly paths: Readonly<Record<keyof UpstreamPathsConfig, string>>;
  readonly headers: { readonly apiKey: string; readonly projectId: string };
}

const HEADERS: ResolvedUpstream['headers'] = { apiKey: 'x-api-key', projectId: 'x-project-id' };

/** Fields that belong to the message, or to the credential besides the API key. */
const TAKEN_HEADERS: ReadonlySet<string> = new Set([
  ...MESSAGE_FIELDS,
  'authorization',
  'content-encoding',
  'content-type',
  'cookie',
  'expect',
]);

/** Header names that the site chose. Defaults are excluded: a new default must not forbid a field that sites already forward. */
export function chosenNames(headers: ResolvedUpstream['headers']): readonly string[] {
  const defaults = Object.values(HEADERS);
  return Object.values(headers).filter((name) => !defaults.includes(name));
}

/** The options of the block `upstream`. */
export const UPSTREAM: OptionShape<keyof UpstreamConfig> = {
  options: {
    paths: { options: checks(PLATFORM_PATHS, templateHint) },
    headers: { options: checks(HEADERS, headerHint) },
  },
};

/** The block as read, without absent fields. */
type GivenUpstream = { readonly [Part in keyof ResolvedUpstream]?: Partial<ResolvedUpstream[Part]> };

/**
 * Completes the block `upstream`.
 *
 * @throws ConfigurationError when both values would be in the same header field.
 */
export function resolveUpstream({ paths, headers }: GivenUpstream = {}): ResolvedUpstream {
  const { apiKey, projectId } = { ...HEADERS, ...headers };
  const names = { apiKey: apiKey.toLowerCase(), projectId: projectId.toLowerCase() };
  if (names.apiKey !== names.projectId) return { paths: { ...PLATFORM_PATHS, ...paths }, headers: names };
  const detail = 'Invalid value for "headers.projectId" in the "upstream" configuration block.';
  throw invalidField('headers.projectId', detail, 'Set a different field for each value.', 'upstream');
}

function checks<Name extends string>(
  defaults: Readonly<Record<Name, string>>,
  hint: (value: string, initial: string, name: string) => string | undefined,
): Record<Name, OptionCheck> {
  const entries = Object.entries<string>(defaults).map(([name, initial]): [string, OptionCheck] => [
    name,
    (value, all) => text(value, all) ?? hint(String(value), initial, name),
  ]);
  return Object.fromEntries(entries) as Record<Name, OptionCheck>;
}

/** Checks a template: it must remain one path for all values, and contain exactly the values of its call. */
function templateHint(template: string, initial: string, name: string): string | undefined {
  const needed = placeholders(initial);
  const used = placeholders(template);
  const missing = needed.find((placeholder) => !used.includes(placeholder));
  if (missing !== undefined) return `It needs "{${missing}}".`;
  const unknown = used.find((placeholder) => !needed.includes(placeholder) && placeholder !== 'projectId');
  if (unknown !== undefined) return `This call has no value "{${unknown}}".`;
  const sample = template.replaceAll(/\{\w+\}/g, 'x');
  const isPath = isSafePath(sample) && !/[{}]/.test(sample);
  // The browser's path may contain slashes, so it may only be used at the end.
  if (isPath && (name !== 'conversations' || template.endsWith('/{path}'))) return undefined;
  return `Set it to a path such as "${initial}".`;
}

function placeholders(template: string): readonly string[] {
  return [...template.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
}

function headerHint(value: string, initial: string): string | undefined {
  const name = value.toLowerCase();
  if (/^[a-z0-9!#$%&'*+.^_`|~-]+$/.test(name) && !TAKEN_HEADERS.has(name)) return undefined;
  return `Set it to the name of a header field such as "${initial}".`;
}
