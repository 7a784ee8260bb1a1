import type { Clock } from '../../ports/clock.js';
import type { HttpResponse } from '../../ports/http.js';
import type { Telemetry } from '../../ports/telemetry.js';
import { credentialScope } from '../credentials/credential-scope.js';
import type { CallerRequest, RoutePlan } from '../credentials/headers-plan.js';
import { isAgentBffError } from '../errors.js';
import { BoundedMap, type MapBounds } from '../shared/bounded-map.js';
import { bodyBytes } from './body-bytes.js';
import { discardBody } from './body-text.js';
import { type LookupTime, within } from './deadline.js';
import { isStyleSheet, mediaType } from './header-policy.js';
import { PLATFORM } from './platform-answer.js';
import { type PlatformApi, platformFields, platformTarget } from './platform-api.js';
import { type Caller, PlatformCall, type PlatformCallDependencies } from './platform-call.js';

/** What a look-up gave; a failed one gives null and the code of a warning. */
export interface Lookup {
  readonly value: string | null;
  readonly warning?: string;
}

/** What look-ups are made with. */
export interface PlatformDirectoryDependencies extends PlatformCallDependencies, LookupTime, MapBounds {
  readonly api: PlatformApi;
  readonly clock: Clock;
  readonly telemetry: Telemetry;
  /** A one-way function without collisions. */
  readonly hash: (text: string) => string;
}

interface Remembered {
  readonly lookup: Lookup;
  readonly until: number;
}

const FOUND_MS = 60_000;
/** A failure is soon over, and asking at every request would keep it going. */
const FAILED_MS = 5_000;
const LONGEST_PROJECT = 65_536;
const LONGEST_BRAND = 1_048_576;

const decoder = new TextDecoder('utf-8', { fatal: true });
// oxlint-disable-next-line no-control-regex
const UNSAFE_STYLE = /<\/|[\u0000-\u0008\u000b\u000e-\u001f\u007f]/;

/** Asks the platform for the project and the brand of a site (a2a-and-surfaces.md §1.3). What fails degrades: nobody's page goes down with it. */
export class PlatformDirectory {
  readonly #deps: PlatformDirectoryDependencies;
  readonly #call: PlatformCall;
  readonly #remembered: BoundedMap<Remembered>;
  readonly #flights = new Map<string, Promise<Lookup>>();

  constructor(dependencies: PlatformDirectoryDependencies) {
    this.#deps = dependencies;
    this.#call = new PlatformCall(dependencies, PLATFORM);
    this.#remembered = new BoundedMap(dependencies);
  }

  /** The configured project, else the one the platform knows for this caller; null when there is none. */
  async project(caller: Caller): Promise<Lookup> {
    const { projectId } = this.#deps.api;
    return projectId === '' ? this.#look('project', caller, readProject) : { value: projectId };
  }

  /** The style sheet of the site's brand; empty when there is none. */
  async brand(caller: Caller): Promise<Lookup> {
    return this.#look('brand', caller, readBrand);
  }

  /** The same for whoever a plan stands for; a credential that cannot be had degrades like any other failure. */
  async resolve(name: 'project' | 'brand', plan: RoutePlan, request: CallerRequest): Promise<Lookup> {
    const { projectId } = this.#deps.api;
    if (name === 'project' && projectId !== '') return { value: projectId };
    let caller: Caller;
    try {
      caller = await this.#call.caller(plan, request);
    } catch (error) {
      return this.#failed(name, error);
    }
    return name === 'project' ? this.project(caller) : this.brand(caller);
  }

  async #look(name: 'project' | 'brand', caller: Caller, read: ReadAnswer): Promise<Lookup> {
    const scope = credentialScope(caller.plan, caller.credential);
    // A caller without a stable name is asked for each time.
    if (scope === undefined) return this.#ask(name, caller, read);
    const key = this.#deps.hash(JSON.stringify([name, scope]));
    const known = this.#remembered.get(key);
    if (known !== undefined && this.#deps.clock.now() < known.until) return known.lookup;
    let flight = this.#flights.get(key);
    if (flight === undefined) {
      flight = this.#remember(key, this.#ask(name, caller, read)).finally(() => this.#flights.delete(key));
      this.#flights.set(key, flight);
    }
    return flight;
  }

  async #remember(key: string, asking: Promise<Lookup>): Promise<Lookup> {
    const lookup = await asking;
    const lifeMs = lookup.warning === undefined ? FOUND_MS : FAILED_MS;
    this.#remembered.set(key, { lookup, until: this.#deps.clock.now() + lifeMs }, lookup.value?.length ?? 0);
    return lookup;
  }

  async #ask(name: 'project' | 'brand', caller: Caller, read: ReadAnswer): Promise<Lookup> {
    // Nobody's own signal: others may wait for the same answer.
    const deadline = this.#deps.deadline(this.#deps.lookupMs);
    try {
      const { value, status } = await within(deadline, PLATFORM, this.#request(name, caller, read, deadline));
      return value === undefined ? this.#failed(name, `status ${String(status)}, or no such answer`) : { value };
    } catch (error) {
      return this.#failed(name, error);
    }
  }

  async #request(name: 'project' | 'brand', caller: Caller, read: ReadAnswer, signal: AbortSignal) {
    const { origin, path } = platformTarget(this.#deps.api, name, {});
    const own = { ...platformFields(this.#deps.api), accept: name === 'brand' ? 'text/css' : 'application/json' };
    const response = await this.#call.send(
      { method: 'GET', origin, path, browser: {}, own, body: null, signal },
      caller,
    );
    return { value: await read(response), status: response.status };
  }

  #failed(name: 'project' | 'brand', cause: unknown): Lookup {
    const warning = `${name}_unavailable`;
    const detail = typeof cause === 'string' ? cause : isAgentBffError(cause) ? cause.logDetail() : 'the look-up threw';
    this.#deps.telemetry.emit({ type: 'warning', code: warning, detail });
    return { value: null, warning };
  }
}

/** The value in an answer; `undefined` when it is none. */
type ReadAnswer = (response: HttpResponse) => Promise<string | undefined>;

async function readProject(response: HttpResponse): Promise<string | undefined> {
  const text = mediaType(response.headers) === 'application/json' ? await bodyOf(response, LONGEST_PROJECT) : undefined;
  if (text === undefined) {
    await discardBody(response.body);
    return undefined;
  }
  try {
    const { id } = JSON.parse(text) as { id?: unknown };
    if (typeof id === 'number') return String(id);
    return typeof id === 'string' && id !== '' ? id : undefined;
  } catch {
    return undefined;
  }
}

async function readBrand(response: HttpResponse): Promise<string | undefined> {
  if (response.status === 404) {
    await discardBody(response.body);
    return '';
  }
  const text = isStyleSheet(response.headers) ? await bodyOf(response, LONGEST_BRAND) : undefined;
  if (text === undefined) await discardBody(response.body);
  // Pages put it into a style element, which `</` would end.
  return text === undefined || UNSAFE_STYLE.test(text) ? undefined : text;
}

async function bodyOf(response: HttpResponse, limitBytes: number): Promise<string | undefined> {
  if (response.status !== 200 || response.headers['content-encoding'] !== undefined) return undefined;
  const bytes = await bodyBytes(response.body, limitBytes);
  try {
    return bytes === undefined ? undefined : decoder.decode(bytes);
  } catch {
    return undefined;
  }
}
