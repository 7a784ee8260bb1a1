import { DeadlineError, inTime } from '../../adapters/system/timed-ports.js';
import type { RouteFields } from '../../domain/credentials/route-auth.js';
import { AgentBffError, isAgentBffError } from '../../domain/shared/errors.js';
import { isFieldValue, isWithheld } from '../../domain/upstream/header-policy.js';
import type { HeaderFields } from '../../ports/http.js';
import type { GetHeaders, HeadersLike, SiteFieldOptions } from './route-options.js';

/** What decides about the fields of a route besides its options. */
export interface SiteFieldSettings {
  /** Values the configuration sends itself, by the name of the field they are sent in. */
  readonly sent: Readonly<Record<string, string>>;
  /** Takes a warning, once for each of these fields that the site's function gives too. */
  readonly warn: (detail: string) => void;
  /** Milliseconds for one call of the site's function; 0 waits for ever. */
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
  return { request, response, make: replacedOnce(headers, settings) };
}

/**
 * What to do about names that `forward` may not have; `undefined` when it may have all of them.
 * `ownNames` are the fields the site itself named in `upstream.headers`: visitors would choose the API key where none is configured.
 */
export function forwardHint(names: readonly string[], ownNames: readonly string[]): string | undefined {
  if (!names.every((name) => /^[\w!#$%&'*+.^`|~-]+$/.test(name))) return 'Set it to a list of names of header fields.';
  const withheld = lowerCase(names).find((name) => isWithheld(name) || ownNames.includes(name));
  return withheld && `Set it to fields that may cross: "${withheld}" never does.`;
}

/** The fields that the site's function returns. A configured value of the same field replaces one (decision 161), with one line in the log. */
function replacedOnce(
  headers: GetHeaders,
  { sent, warn, sessionMs }: SiteFieldSettings,
): NonNullable<RouteFields['make']> {
  const unsaid = new Map(Object.entries(sent));
  return async ({ native }) => {
    const fields = await made(headers, native.request, sessionMs);
    for (const [name, value] of unsaid) {
      if (fields[name] === undefined) continue;
      unsaid.delete(name);
      warn(
        `The function given as "headers" gives "${name}", in which ${value} is sent. Give it another name, or change "upstream.headers".`,
      );
    }
    return fields;
  };
}

async function made(headers: GetHeaders, request: unknown, sessionMs: number): Promise<HeaderFields> {
  let made: HeadersLike;
  try {
    const work = (async () => headers(request))();
    made = await inTime(work, sessionMs, 'it');
  } catch (error) {
    if (isAgentBffError(error)) throw error;
    throw notMade(error instanceof DeadlineError ? error.message : `it threw ${thrown(error)}`);
  }
  let fields: HeaderFields;
  try {
    fields = headerFields(made);
  } catch (error) {
    throw notMade((error as Error).message);
  }
  const withheld = Object.keys(fields).find(isWithheld);
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

/**
 * The fields by lower-case name.
 *
 * @throws Error when it is nothing header fields can be made of; the text never quotes a value.
 */
export function headerFields(made: HeadersLike): Record<string, string> {
  const headers = new Headers();
  for (const [name, value] of pairs(made)) {
    for (const text of Array.isArray(value) ? (value as unknown[]) : [value]) {
      if (text === undefined || text === null) continue;
      // Of anything else, such as a promise nobody awaited, all requests would carry the same "[object …]".
      if (!['string', 'number', 'boolean'].includes(typeof text)) throw new Error('it gave a value that is not text');
      append(headers, String(name), String(text as string));
    }
  }
  const fields = Object.fromEntries(headers);
  // `Headers` takes control characters, which no client of HTTP sends.
  if (!Object.values(fields).every(isFieldValue)) throw notAllowed();
  return fields;
}

function pairs(made: unknown): readonly (readonly [unknown, unknown])[] {
  if (made === undefined || made === null) return [];
  if (typeof made !== 'object') throw new Error('it gave no header fields');
  // Whatever lists pairs: a `Headers` of another realm or library, an array, a `Map`.
  if (!(Symbol.iterator in made)) {
    const fields = Object.entries(made);
    if (fields.length > 0 || isPlain(made)) return fields;
    throw new Error('it gave an object without header fields of its own, such as a request in place of its headers');
  }
  const listed = [...(made as Iterable<unknown>)];
  if (listed.every((pair) => Array.isArray(pair) && pair.length === 2)) return listed as [unknown, unknown][];
  throw new Error('it gave a list that does not consist of pairs of name and value');
}

/** Whether an object is one of names and values, also one of another realm. */
function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

function append(headers: Headers, name: string, text: string): void {
  try {
    headers.append(name, text);
  } catch {
    // The error's own message quotes the value.
    throw notAllowed();
  }
}

function notAllowed(): Error {
  return new Error('it gave a name or a value that no header field may have');
}
