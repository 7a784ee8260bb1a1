import { DeadlineError, inTime } from '../../adapters/system/timed-ports.js';
import type { RouteFields } from '../../domain/credentials/site-fields.js';
import { AgentBffError, isAgentBffError } from '../../domain/errors.js';
import { isWithheld } from '../../domain/upstream/header-policy.js';
import type { HeaderFields } from '../../ports/http.js';
import { type GetHeaders, headerFields, type HeadersLike } from './header-fields.js';

/**
 * Names of further header fields that cross. Credentials, cookies, hop-by-hop, framing and CORS fields, and those this package sets itself, are refused.
 *
 * @public
 */
export interface ForwardOptions {
  /** Fields of the browser's request that the platform is sent too, such as `prefer` or `baggage`. Visitors choose their values. Default: none. */
  readonly request?: readonly string[] | undefined;
  /** Fields of the platform's response that the browser is sent too, such as `x-agent-trace`. Default: none. */
  readonly response?: readonly string[] | undefined;
}

/**
 * Header fields of the site's own, which every route takes. What is sent to the platform is part of all cache keys, but for `traceparent`, `tracestate` and `baggage`.
 *
 * @public
 */
export interface SiteFieldOptions {
  /** Makes further header fields for the platform, such as a tenant, from the framework's request. What it throws is a 500 whose reason stays in the server's log; an error of this package is answered as such. Default: none. */
  readonly headers?: GetHeaders | undefined;
  /** Names further header fields that cross. Default: none. */
  readonly forward?: ForwardOptions | undefined;
}

/** What decides about the fields of a route besides its options. */
export interface SiteFieldSettings {
  /** Names of the fields this configuration sends its API key and project in. */
  readonly ownNames: readonly string[];
  /** Milliseconds for one answer of the site's function; 0 waits for ever. */
  readonly sessionMs: number;
}

/** The site's own fields on a route; `undefined` when it has none. */
export function routeFields(
  { headers, forward = {} }: SiteFieldOptions,
  settings: SiteFieldSettings,
): RouteFields | undefined {
  const request = lowerCase(forward.request);
  const response = lowerCase(forward.response);
  if (headers === undefined && request.length === 0 && response.length === 0) return undefined;
  if (headers === undefined) return { request, response };
  return { request, response, make: ({ native }) => made(headers, native.request, settings) };
}

/** What to do about names that `forward` may not have; `undefined` when it may have all of them. */
export function forwardHint(names: readonly string[], ownNames: readonly string[]): string | undefined {
  if (!names.every((name) => /^[\w!#$%&'*+.^`|~-]+$/.test(name))) return 'Set it to a list of names of header fields.';
  const withheld = lowerCase(names).find((name) => mayNot(name, ownNames));
  return withheld && `Set it to fields that may cross: "${withheld}" never does.`;
}

async function made(headers: GetHeaders, request: unknown, settings: SiteFieldSettings): Promise<HeaderFields> {
  let answer: HeadersLike;
  try {
    // `never` in the type lets a site name its own framework's request there.
    const work = (async () => headers(request as never))();
    answer = await inTime(work, settings.sessionMs, 'it');
  } catch (error) {
    if (isAgentBffError(error)) throw error;
    throw notMade(error instanceof DeadlineError ? error.message : `it threw ${thrown(error)}`);
  }
  let fields: HeaderFields;
  try {
    fields = headerFields(answer);
  } catch (error) {
    throw notMade((error as Error).message);
  }
  const withheld = Object.keys(fields).find((name) => mayNot(name, settings.ownNames));
  if (withheld !== undefined) throw notMade(`it gave "${withheld}", which no option may set`);
  return fields;
}

/** What was thrown, and where. Without the message: one of `Headers` quotes the value it refuses. */
function thrown(error: unknown): string {
  if (!(error instanceof Error)) return typeof error;
  const [place] = /^ +at .+$/m.exec(String(error.stack).replace(error.message, '')) ?? [''];
  return `${error.name} ${place.trim()}`.trim();
}

function notMade(reason: string): AgentBffError {
  return new AgentBffError('internal_error', {
    detail: 'The header fields of this site could not be made.',
    hint: 'Check the function given as "headers"; the server log says what failed.',
    block: 'headers',
    log: `The function given as "headers" failed: ${reason}.`,
  });
}

function lowerCase(names: readonly string[] = []): readonly string[] {
  return names.map((name) => name.toLowerCase());
}

function mayNot(name: string, ownNames: readonly string[]): boolean {
  return isWithheld(name) || ownNames.includes(name);
}
