import type { HeaderFields, RequestContext } from '../../ports/http.js';
import type { Telemetry, TelemetryEvent } from '../../ports/telemetry.js';
import type { RouteAuth } from '../credentials/route-auth.js';
import { discard, mediaType } from '../shared/body.js';
import { utf8Text } from '../shared/bytes.js';
import { type AgentBffError, isAgentBffError } from '../shared/errors.js';
import { parsedJson } from '../shared/json.js';
import { readAhead } from './body-bytes.js';
import { isStyleSheet } from '../shared/header-policy.js';
import { type Found, Lookups, type LookupsDependencies } from './lookups.js';
import { type PlatformApiCalls, platformFields, platformTarget } from './platform-api.js';
import type { Caller } from './platform-call.js';
import { type Counterpart, PLATFORM, platformError } from './platform-error.js';
import type { PlatformStyles } from './platform-styles.js';

/** The result of a look-up; if it failed, null and the code of a warning. */
export interface Lookup {
  readonly value: string | null;
  readonly warning?: string;
}

export interface PlatformDirectoryDependencies extends LookupsDependencies, PlatformApiCalls {
  readonly telemetry: Telemetry;
  readonly styles: BrandStyles;
}

type BrandStyles = Pick<PlatformStyles, 'brand'>;

type WarningEvent = Extract<TelemetryEvent, { type: 'warning' }>;

type Awaitable<T> = T | Promise<T>;

/** The values that can be looked up. */
export type LookupName = 'project' | 'brand';

/** The rules for reading the response to a look-up. */
interface LookupKind {
  readonly accept: string;
  /** The value if the platform has none; absent if that is a failure. */
  readonly ifMissing?: string;
  readonly limitBytes: number;
  readonly fits: (headers: HeaderFields) => boolean;
  /** Reads the value from a response; `undefined` if there is none. */
  readonly read: (bytes: Uint8Array, styles: BrandStyles) => Awaitable<string | undefined>;
}

/** Each look-up, with the called party for errors. */
export const LOOKUPS: Readonly<Record<LookupName, Counterpart & LookupKind>> = {
  project: {
    name: 'platform',
    fields: ['serviceApiUrl', 'upstream.paths.project', 'serviceProjectId'],
    check: 'check "serviceApiUrl" and "upstream.paths.project" in configureServer, or set "serviceProjectId"',
    expected: 'JSON with the id of the project',
    accept: 'application/json',
    limitBytes: 65_536,
    fits: (headers) => mediaType(headers) === 'application/json',
    read: projectIn,
  },
  brand: {
    name: 'platform',
    fields: ['serviceApiUrl', 'upstream.paths.brand'],
    check: 'check "serviceApiUrl" and "upstream.paths.brand" in configureServer',
    expected: 'a style sheet',
    accept: 'text/css',
    ifMissing: '',
    limitBytes: 1_048_576,
    fits: isStyleSheet,
    read: styleSheetIn,
  },
};

const FOUND_MS = 60_000;
/** A failure is usually short, and retrying on every request would prolong it. */
const FAILED_MS = 5_000;

// oxlint-disable-next-line no-control-regex
const UNSAFE_STYLE = /<\/|[\u0000-\u0008\u000b\u000e-\u001f\u007f]/;

/** Looks up the project and the brand of a site on the platform. A failure becomes a warning, so that pages still load. */
export class PlatformDirectory {
  readonly #deps: PlatformDirectoryDependencies;
  readonly #lookups: Readonly<Record<LookupName, Lookups<Lookup>>>;

  constructor(dependencies: PlatformDirectoryDependencies) {
    this.#deps = dependencies;
    this.#lookups = { project: new Lookups(dependencies), brand: new Lookups(dependencies) };
  }

  /** The configured project, otherwise the one the platform has for this caller; null if there is none. */
  async project(caller: Caller): Promise<Lookup> {
    const { projectId } = this.#deps.api;
    return projectId === '' ? this.#look('project', caller) : { value: projectId };
  }

  /** The style sheet of the site's brand; empty if there is none. */
  async brand(caller: Caller): Promise<Lookup> {
    return this.#look('brand', caller);
  }

  /** Looks up either by route auth; if the credential cannot be obtained, the result is a warning like any other failure. */
  async resolve(name: LookupName, auth: RouteAuth, request: RequestContext): Promise<Lookup> {
    const { projectId } = this.#deps.api;
    if (name === 'project' && projectId !== '') return { value: projectId };
    try {
      return await this[name](await this.#deps.call.caller(auth, request));
    } catch (error) {
      return this.#failed(name, error);
    }
  }

  #look(name: LookupName, caller: Caller): Promise<Lookup> {
    const { credential, auth } = caller;
    const { sharesLookups: sharedBy } = auth;
    return this.#lookups[name].get({
      counterpart: PLATFORM,
      // For a caller without a stable name, the result is not cached.
      name: credential.owner.principal === undefined && sharedBy === undefined ? undefined : name,
      credential,
      sharedBy,
      ask: async (deadline) => remembered(await this.#request(name, caller, deadline), FOUND_MS),
      failed: (error) => remembered(this.#failed(name, error), FAILED_MS),
    });
  }

  async #request(name: LookupName, caller: Caller, signal: AbortSignal): Promise<Lookup> {
    const { accept, ifMissing, limitBytes, fits, read } = LOOKUPS[name];
    const { call, timeouts, api, styles } = this.#deps;
    const own = { ...platformFields(api), accept };
    const target = { ...platformTarget(api, name, {}), method: 'GET', browser: {}, own, body: null, signal };
    const reply = await call.send({ counterpart: PLATFORM, timeouts, ...target }, caller);
    const { status, headers } = reply.response;
    let { body } = reply.response;
    if (status === 404 && ifMissing !== undefined) {
      discard(body);
      return { value: ifMissing };
    }
    if (status === 200 && headers['content-encoding'] === undefined && fits(headers)) {
      const start = await readAhead(body, limitBytes);
      const value = start.complete ? await read(start.bytes, styles) : undefined;
      if (value !== undefined) return { value };
      body = start.complete ? start.bytes : start.body;
    }
    const said = await call.errors.said({ ...reply, response: { status, headers, body } });
    throw platformError(reply, LOOKUPS[name], said);
  }

  #failed(name: LookupName, cause: unknown): Lookup {
    const warning = `${name}_unavailable`;
    const facts = isAgentBffError(cause) ? explained(cause) : { detail: 'the look-up threw' };
    // A site that only chats has no platform API, which is not a failure.
    if (this.#deps.api.endpoint !== undefined) this.#deps.telemetry.emit({ type: 'warning', code: warning, ...facts });
    return { value: null, warning };
  }
}

function remembered(value: Lookup, lifeMs: number): Found<Lookup> {
  return { value, lifeMs, bytes: value.value?.length ?? 0 };
}

/** For the log, since there is no error response: what happened, what to do, and the text of the response. */
export function explained(error: AgentBffError): Pick<WarningEvent, 'detail' | 'summary' | 'block' | 'fields'> {
  const { message: summary, block, fields } = error;
  const said = error.logDetail();
  const detail = said === error.detail ? summary : `${summary} ${said}`;
  return { detail, summary, ...(block !== undefined && { block }), ...(fields.length > 0 && { fields }) };
}

function projectIn(bytes: Uint8Array): string | undefined {
  const id = (parsedJson(textOf(bytes)) as { id?: unknown } | null | undefined)?.id;
  if (typeof id === 'number') return String(id);
  return typeof id === 'string' && id !== '' ? id : undefined;
}

async function styleSheetIn(bytes: Uint8Array, styles: BrandStyles): Promise<string | undefined> {
  const text = textOf(bytes);
  // Pages put it into a style element, which `</` would close; checked even if the site trusts the CSS.
  return text === undefined || UNSAFE_STYLE.test(text) ? undefined : styles.brand(text);
}

/** The text without a byte order mark, which is part of neither JSON nor CSS. */
function textOf(bytes: Uint8Array): string | undefined {
  return utf8Text(bytes)?.replace(/^\uFEFF/, '');
}
