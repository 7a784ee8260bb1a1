import { STORE_PREFIX } from '../../domain/surfaces/render-keys.js';
import type { Clock } from '../../ports/clock.js';
import type { Telemetry } from '../../ports/telemetry.js';
import { type SharedStore, sharedStore } from '../toolkit/cache-stores.js';
import type { ResolvedConfig } from '../config/resolve-config.js';
import { failed, type Finding, networkFix, passed, refused, skipped, topLevel, warning } from './finding.js';

const LOG_IN = 'Correct address, user and password in "cacheStore" in configureServer.';
/** Fixes of what a server rejects, and of a client that is not installed. */
const REJECTED: readonly (readonly [RegExp, string])[] = [
  [/npm install/, 'Run "npm install @keyv/redis" for "cacheStore" in configureServer.'],
  [/READONLY/, 'Set "cacheStore" to the address of the primary, or to those of Sentinels.'],
  [/OOM/, 'Raise "maxmemory" of the store, or set its "maxmemory-policy" to allkeys-lru.'],
  [/NOPERM/, 'Allow its user GET, SET, UNLINK, INFO and CLUSTER SLOTS, and the keys "agent-bff:*".'],
  [/TLS handshake/, 'Use redis instead of rediss, or correct the port, in "cacheStore" in configureServer.'],
  [/Sentinel/, 'Correct the name of the primary at the end of "cacheStore".'],
];
const LIFE_MS = 60_000;
/** Longer than the limit of a call, because opening a connection takes longer. */
const PATIENT_MS = 5_000;

/** Writes, reads and removes one entry of the shared cache; returns no findings if none is configured. */
export async function cacheFindings(config: ResolvedConfig, clock: Clock): Promise<readonly Finding[]> {
  const { cacheKeys, timeouts } = config;
  const patient = { ...config, timeouts: { ...timeouts, cacheMs: Math.max(PATIENT_MS, timeouts.cacheMs) } };
  const faults: string[] = [];
  const telemetry: Telemetry = {
    emit: (event) => {
      if (event.type === 'cache_fault') faults.push(event.detail);
    },
  };
  let used: SharedStore | undefined;
  try {
    used = sharedStore(patient, clock, telemetry);
    if (used === undefined) return [];
    const { store, connection } = used;
    const key = `${STORE_PREFIX}doctor:${crypto.randomUUID()}`;
    const tried = async (call: Promise<string | void>): Promise<string | void> => call.catch(() => undefined);
    await tried(store.get(key)); // Connects.
    const began = performance.now();
    await tried(store.set(key, 'doctor', clock.now() + LIFE_MS));
    const found = await tried(store.get(key));
    const ms = (performance.now() - began) / 2;
    await tried(store.delete(key));
    const server = connection?.describe() ?? '';
    return [reach(found === 'doctor', faults[0], ms, server, timeouts.cacheMs), ...keys(cacheKeys.length)];
  } catch (error) {
    return [refused('cache store', error)];
  } finally {
    await used?.close();
  }
}

function reach(isKept: boolean, fault: string | undefined, ms: number, server: string, cacheMs: number): Finding {
  const check = 'cache store';
  const store = topLevel('cacheStore');
  if (!isKept) {
    if (fault === undefined) return failed(check, 'it does not return the entry that was set', store);
    const fix = REJECTED.find(([pattern]) => pattern.test(fault))?.[1];
    const [code = ''] = /\bE[A-Z_]{4,}\b/.exec(fault) ?? [];
    return failed(check, `it cannot be used: ${fault}`, store, fix ?? networkFix(code, store) ?? LOG_IN);
  }
  const message = `a call takes ${ms.toFixed(1)} ms${server === '' ? '' : `; ${server}`}`;
  if (ms <= cacheMs) return passed(check, message);
  const late = `${message}, but times out after ${String(cacheMs)} ms`;
  const fix = 'Raise "cacheMs" in the "timeouts" configuration block, or use a closer store.';
  return warning(check, late, { block: 'timeouts', fields: ['cacheMs'] }, fix);
}

function keys(count: number): readonly Finding[] {
  const check = 'cache keys';
  if (count > 0) return [passed(check, `${String(count)} configured; tokens are sealed and shared`)];
  const fix = 'Set "cacheKeys" in configureServer to what `openssl rand -base64 32` prints, the same in every process.';
  return [warning(check, 'none, so tokens stay in each process', topLevel('cacheKeys'), fix)];
}

const PAGE_CHECK = 'error page';
/** The default mount path. Any path works, since a parser for the whole site runs first. */
const CHAT_PATH = '/api/a2a';
const PAGE_MS = 5_000;
const HANDLE_ERRORS =
  'Mount an error handler after all other middleware of the site, as the recipe for Express in docs/frameworks.md does, and set NODE_ENV to production.';

const MOUNT_ROUTES =
  'Mount the routes at /api, before a page that serves all other paths. If the chat is at another address, this check does not know it: set "a2aEndpoint" on the page.';

/**
 * Asks the running site for the chat's configuration, and sends it a body that no parser accepts. If a parser runs
 * before the routes of this package, the framework shows its error on its own page, with the stack if the site has no
 * error handler.
 */
export async function siteFindings(publicUrl: string): Promise<readonly Finding[]> {
  const chat = publicUrl + CHAT_PATH;
  const broken = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{' };
  let pages: readonly Page[];
  try {
    pages = await Promise.all([pageOf(chat, broken), pageOf(`${chat}/config`)]);
  } catch {
    return [skipped(PAGE_CHECK, `${new URL(publicUrl).origin} does not respond; try again when the site runs`)];
  }
  const other = pages.find(isOfAnotherRoute);
  const address = other === undefined ? [] : [strayed(other)];
  const { status, text } = pages[0] as Page;
  const suspect = { block: 'environment', fields: ['NODE_ENV'] };
  const page = hasStack(text)
    ? warning(PAGE_CHECK, 'shows visitors a stack trace for an invalid body', suspect, HANDLE_ERRORS)
    : passed(PAGE_CHECK, `shows no stack trace (status ${String(status)} for an invalid body)`);
  return [...address, page];
}

function strayed({ url, status, type }: Page): Finding {
  const message = `${url} responded with status ${String(status)} and ${type || 'no type'}, which is not a response of the chat`;
  return warning('chat address', message, topLevel('publicUrl'), MOUNT_ROUTES);
}

interface Page {
  readonly url: string;
  readonly status: number;
  readonly type: string;
  readonly text: string;
}

async function pageOf(url: string, init: RequestInit = {}): Promise<Page> {
  const response = await fetch(url, { ...init, redirect: 'manual', signal: AbortSignal.timeout(PAGE_MS) });
  const type = response.headers.get('content-type') ?? '';
  return { url, status: response.status, type, text: await response.text() };
}

/** True for a page, a redirect, or an unknown address: the chat responds with JSON or events. */
function isOfAnotherRoute({ status, type }: Page): boolean {
  return status === 404 || status === 405 || (status < 400 && !/^application\/json|^text\/event-stream/.test(type));
}

/** True if a text, or a page of Express, contains a stack line such as `at JSON.parse (server.js:1:2)`. */
function hasStack(page: string): boolean {
  const lines = page.replaceAll('&nbsp;', ' ').replaceAll('<br>', '\n').split('\n');
  return lines.some((line) => line.trimStart().startsWith('at ') && /:\d+:\d/.test(line));
}
