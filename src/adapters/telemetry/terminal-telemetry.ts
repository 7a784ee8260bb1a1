import process from 'node:process';
import type { Telemetry, TelemetryEvent } from '../../ports/telemetry.js';
import { RedactedTelemetry, type ReportingToolkit } from './operator-telemetry.js';

type ErrorEvent = Extract<TelemetryEvent, { type: 'error' }>;
type WarningEvent = Extract<TelemetryEvent, { type: 'warning' }>;
type ReportedEvent = Pick<TelemetryEvent, 'type'> & Pick<ErrorEvent, 'detail'> & Partial<Pick<ErrorEvent, 'requestId'>>;

/** Errors that visitors cause. All others, and those with a code of the site's own, are for the operator. */
const VISITORS: ReadonlySet<string> = new Set([
  'session_required',
  'session_expired',
  'interaction_required',
  'origin_refused',
  'host_refused',
  'rate_limited',
  'body_invalid',
  'body_too_large',
  'body_timeout',
  'content_type_unsupported',
  'content_encoding_unsupported',
  'method_denied',
  'conversation_unknown',
  'method_not_allowed',
  'not_found',
  'upgrade_unsupported',
  'server_closing',
]);

/** Refusals that may be caused by a mistake of the site until a route has served a request, and what else to check then. */
const FIRST_STEPS: Readonly<Record<string, string>> = {
  session_required:
    'If a user is signed in, check that the page sends its cookies, and that the session source of the route ("auth", "getSessionToken") reads them.',
  origin_refused: 'If the page is the site\'s own, check "publicUrl" and "allowedOrigins" in configureServer.',
  not_found: '',
  method_not_allowed: '',
  content_type_unsupported: '',
  host_refused: 'If the name is the site\'s own, check "publicUrl" and "allowedHosts" in configureServer.',
};

const STORE_FAULT = 'The shared cache fails; visitors are served without it. Check "cacheStore" in configureServer.';
const BROKEN = 'A stream from the platform broke before its end.';

/** Routes whose path is chosen by visitors, so that "not found" may be about that path. */
const OPEN_PATHS: ReadonlySet<string> = new Set(['surface', 'conversation']);

/** Matches a text that begins with a status of the platform, or a code or name of an error: never a visitor's words. */
const REASON = /^(?:status \d{3}|[A-Z]\w{1,63}(?=:))/;

/**
 * Reports what the operator has to fix if no telemetry is configured: faults of configuration, credentials, addresses,
 * provider, platform and store, but not visitors' mistakes (decision 87). It has no `runRequest`: a request of a
 * healthy site costs nothing extra.
 */
export class TerminalTelemetry extends RedactedTelemetry implements Telemetry {
  readonly #log: FaultLog;
  /**
   * Routes that have served a request and thus are set up correctly, and refusals (route and code) that were reported
   * once.
   */
  readonly #settled = new Set<string>();

  constructor(log: FaultLog, toolkit: ReportingToolkit) {
    super(toolkit);
    this.#log = log;
    log.join(toolkit.name);
  }

  override learn(toolkit: ReportingToolkit): void {
    super.learn(toolkit);
    this.#log.join(toolkit.name);
    // Another configuration may have another address.
    this.#settled.clear();
  }

  emit(reported: TelemetryEvent): void {
    // Most events are of this type, and need no name.
    if (reported.type === 'request') {
      if (reported.status < 400) this.#settled.add(reported.route);
      return;
    }
    const event = this.named(reported);
    // Other events are single steps: if one affects a visitor, an error follows.
    if (event.type === 'error' && (this.#isFault(event) || this.#isFirst(event))) this.#tellError(event);
    if (event.type === 'warning') this.#tellWarning(event);
    if (event.type === 'cache_fault') this.#tell([event.type, event.detail], STORE_FAULT, event);
    if (event.type === 'stream_broken' && event.side === 'upstream')
      this.#tell([event.type, event.route], `${event.route}: ${BROKEN}`, event);
  }

  #isFault({ code, status, route, block }: ErrorEvent): boolean {
    // An error without a block: the sender aborted its own request.
    if (code === 'upstream_unreachable') return block !== undefined;
    if (code !== 'upstream_error') return !VISITORS.has(code);
    return status >= 500 || (block !== undefined && !(OPEN_PATHS.has(route) && this.#settled.has(route)));
  }

  /** Reported once: requests outside the routes never succeed, and scanners never stop. */
  #isFirst({ code, route }: ErrorEvent): boolean {
    const refusal = `${route} ${code}`;
    if (FIRST_STEPS[code] === undefined || this.#settled.has(route) || this.#settled.has(refusal)) return false;
    this.#settled.add(refusal);
    return true;
  }

  #tellError(event: ErrorEvent): void {
    const { code, status, route, block = '', fields = [], summary, detail } = event;
    const said = summary.startsWith(detail) ? { ...event, detail: '' } : event;
    const advice = FIRST_STEPS[code] ? ` ${FIRST_STEPS[code]}` : '';
    const label = route === 'none' ? '' : `${route}: `;
    this.#tell([code, status, route, block, ...fields, reasonOf(detail)], `${label}${summary}${advice}`, said);
  }

  #tellWarning(event: WarningEvent): void {
    const { code, summary = '', detail } = event;
    // A warning that replaces an error begins with the text a visitor would see.
    const said = detail.startsWith(summary) ? detail.slice(summary.length).trimStart() : detail;
    this.#tell([code, reasonOf(said)], summary, { ...event, detail: said });
  }

  #tell(key: readonly unknown[], message: string, { type, detail, requestId }: ReportedEvent): void {
    // Visitors never read the id of a warning or a cache fault.
    const isShown = type === 'error' || type === 'stream_broken';
    const maxLines = isShown && requestId !== undefined ? MAX_LINES : 1;
    this.#log.write(JSON.stringify(key), this.name, maxLines, (toolkits, times) => {
      const [words, said] = [message, detail].map((text) => this.redact(text, []));
      const request = requestId === undefined ? '' : `request ${requestId}`;
      const aside = [words === '' ? '' : said, toolkits, request, times].filter((part) => part !== '').join('; ');
      return `${words === '' ? said : words}${aside === '' ? '' : ` (${aside})`}`;
    });
  }
}

function reasonOf(detail: string): string {
  return REASON.exec(detail)?.[0] ?? '';
}

/** Settings of a log of faults. */
export interface FaultLogSettings {
  /** Monotonic milliseconds, from any starting point. */
  readonly now: () => number;
  /** Receives one line, without its line end. */
  readonly write: (line: string) => void;
}

const PAUSE_MS = 60_000;
/**
 * Maximum number of lines per fault in that time. The id that a visitor reads can be found, and a flood stays small.
 */
const MAX_LINES = 10;
const MAX_FAULTS = 100;
/** Maximum number of names in a list. */
const MAX_NAMED = 5;
/** Maximum number of names in memory. Beyond it, further toolkits are not counted. */
const MAX_NAMES = 1_000;

interface Reported {
  readonly at: number;
  /** Number of repetitions since then. */
  again: number;
  /** The toolkits of these repetitions. */
  readonly toolkits: Set<string>;
}

/**
 * Writes a limited number of lines a minute for each distinct fault (decision 87). It has no timers: the first line of
 * a later minute counts the occurrences.
 */
export class FaultLog {
  readonly #settings: FaultLogSettings;
  /** Ordered by time, oldest first. */
  readonly #reported = new Map<string, Reported>();
  /** The toolkits of this process. A line names them once there are two. */
  readonly #toolkits = new Set<string>();

  constructor(settings: FaultLogSettings) {
    this.#settings = settings;
  }

  /** Adds a toolkit that reports its faults here; the empty name stands for none. */
  join(toolkit: string): void {
    if (toolkit !== '') addUpTo(MAX_NAMES, this.#toolkits, toolkit);
  }

  /**
   * `key` identifies the fault and contains nothing a visitor chooses; faults of several toolkits are one. It has at most
   * `maxLines` a minute. `text` is only called if a line is due.
   */
  write(key: string, toolkit: string, maxLines: number, text: (toolkits: string, times: string) => string): void {
    const now = this.#settings.now();
    const last = this.#reported.get(key);
    if (last !== undefined && now - last.at < PAUSE_MS) {
      last.again += 1;
      addUpTo(MAX_NAMES, last.toolkits, toolkit);
      if (last.again < maxLines) this.#line(text, [toolkit]);
      return;
    }
    if (last === undefined && !this.#hasRoom(now)) return;
    this.#reported.delete(key);
    this.#reported.set(key, { at: now, again: 0, toolkits: new Set() });
    const times = last === undefined || last.again === 0 ? '' : timesIn(last.again + 1, now - last.at);
    this.#line(text, [...new Set([toolkit, ...(last?.toolkits ?? [])])], times);
  }

  #line(text: (toolkits: string, times: string) => string, toolkits: readonly string[], times = ''): void {
    const named = this.#toolkits.size < 2 ? [] : toolkits.filter((toolkit) => toolkit !== '');
    this.#settings.write(`agent-bff: ${text(namesOf(named), times)}`);
  }

  /** False if all known faults were written within the last minute; otherwise the oldest is evicted. */
  #hasRoom(now: number): boolean {
    if (this.#reported.size < MAX_FAULTS) return true;
    for (const [key, { at }] of this.#reported) {
      return now - at >= PAUSE_MS && this.#reported.delete(key);
    }
    return true;
  }
}

function addUpTo(limit: number, names: Set<string>, name: string): void {
  if (names.size < limit) names.add(name);
}

function namesOf(toolkits: readonly string[]): string {
  if (toolkits.length === 0) return '';
  return `${toolkits.length === 1 ? 'toolkit' : 'toolkits'} ${firstOf(toolkits)}`;
}

/** A list of names as part of a sentence, of which there may be thousands. */
export function firstOf(names: readonly string[]): string {
  const others = names.length - MAX_NAMED;
  return names.slice(0, MAX_NAMED).join(', ') + (others > 0 ? ` and ${String(others)} more` : '');
}

function timesIn(times: number, ms: number): string {
  const minutes = Math.round(ms / 60_000);
  return `${String(times)} times in the last ${minutes < 2 ? 'minute' : `${String(minutes)} minutes`}`;
}

const ignore = (): void => undefined;

/**
 * Writes one line to standard error, by a call that bundlers do not remove from production builds. A closed pipe costs
 * the lines only: without a listener, the error of a write would end the process; Node's console handles the first one
 * and not the next.
 */
export function writeToStandardError(line: string): void {
  try {
    const { stderr } = process;
    if (!stderr.listeners('error').includes(ignore)) stderr.on('error', ignore);
    stderr.write(`${line}\n`);
  } catch {
    // The site continues without a terminal.
  }
}
