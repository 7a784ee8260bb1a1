import { silentTelemetry } from '../../adapters/telemetry/operator-telemetry.js';
import { systemClock } from '../../adapters/system/system-clock.js';
import { UndiciUpstream } from '../../adapters/undici/undici-upstream.js';
import { LOOKUPS, type LookupName } from '../../domain/upstream/platform-directory.js';
import type { HttpHandler, HttpRequest, HttpResponse } from '../../ports/http.js';
import type { ServerConfig } from '../config/server-config.js';
import type { ToolkitPorts } from '../toolkit/ports.js';
import type { ResolvedConfig } from '../config/resolve-config.js';
import type { Toolkit } from '../toolkit/toolkit-type.js';
import { createToolkit } from '../toolkit/toolkit.js';
import type { Finding } from './finding.js';
import { described, type WatchedCall, RecordingUpstream } from './recording-upstream.js';
import { withoutTrailingSlashes } from '../../domain/shared/paths.js';

/** What the package itself says of a failure. */
interface Problem {
  readonly code?: string;
  readonly detail?: string;
  readonly block?: string;
  readonly fields?: readonly string[];
}

/** The site of a configuration, visited without a browser: what works here works for visitors. */
export class SiteProbe {
  readonly toolkit: Toolkit;
  readonly #upstream: RecordingUpstream;
  /** Addresses the config route asks beside the agent's. */
  readonly #lookups: ReadonlyMap<LookupName, string>;

  constructor(config: ServerConfig, resolved: ResolvedConfig, ports: ToolkitPorts) {
    const { timeouts, serviceApi, upstream: names, serviceProjectId } = resolved;
    const base = `${serviceApi?.origin ?? ''}${withoutTrailingSlashes(serviceApi?.path ?? '')}`;
    const project = encodeURIComponent(serviceProjectId);
    this.#lookups = new Map(
      (Object.keys(LOOKUPS) as LookupName[]).map((name) => [
        name,
        base + names.paths[name].replaceAll('{projectId}', project),
      ]),
    );
    const clock = ports.clock ?? systemClock;
    const upstream = ports.upstream ?? new UndiciUpstream({ connectMs: timeouts.connectMs });
    this.#upstream = new RecordingUpstream(upstream, clock);
    // What is shared with the running site is left alone: its cache, and those who listen to it. Its visits use no name of the site, so any will do.
    const { cacheStore: _store, cacheKeys: _keys, telemetry: _telemetry, allowedHosts: _hosts, ...own } = config;
    this.toolkit = createToolkit(own, { telemetry: silentTelemetry, ...ports, clock, upstream: this.#upstream });
  }

  /** Every call to the platform so far, oldest first. */
  get calls(): readonly WatchedCall[] {
    return this.#upstream.calls;
  }

  /** Those that were no look-ups. */
  get visits(): readonly WatchedCall[] {
    const lookups = [...this.#lookups.values()];
    return this.calls.filter(({ origin, path }) => !lookups.includes(origin + path));
  }

  /** What became of a look-up at last; the site remembers what it looked up. */
  lookup(name: LookupName): WatchedCall | undefined {
    return this.calls.findLast(({ origin, path }) => origin + path === this.#lookups.get(name));
  }

  /** Asks one of the site's own routes. */
  ask(handler: HttpHandler, request: Partial<HttpRequest>): Promise<HttpResponse> {
    return handler({
      method: 'GET',
      path: '',
      query: '',
      body: null,
      bodyConsumed: false,
      publicUrl: 'http://localhost/api/a2a',
      signal: new AbortController().signal,
      native: { request: undefined },
      ...request,
      headers: { host: 'localhost', ...request.headers },
    });
  }

  /** A failure in the words of the package, with what the platform answered last; `usual` is where to look when the package names no place. */
  failed(check: string, problem: unknown, usual: readonly string[]): Finding {
    const { detail = 'it failed', block = 'configureServer', fields = usual } = Object(problem) as Problem;
    const last = this.visits.at(-1);
    return {
      check,
      result: 'failed',
      message: last === undefined ? detail : `${detail} (${described(last)})`,
      block,
      fields,
    };
  }

  async close(): Promise<void> {
    await this.toolkit.close({ graceMs: 0 });
  }
}

/** The whole body of an answer as JSON; `undefined` when it is none. */
export async function jsonOf({ body }: HttpResponse): Promise<unknown> {
  const chunks: Uint8Array[] = [];
  if (typeof body === 'string' || body instanceof Uint8Array) chunks.push(Buffer.from(body));
  else if (body !== null) for await (const chunk of body) chunks.push(chunk);
  try {
    return JSON.parse(Buffer.concat(chunks).toString());
  } catch {
    return undefined;
  }
}
