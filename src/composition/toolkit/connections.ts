import { type DispatcherLike, DispatcherUpstream } from '../../adapters/undici/dispatcher-upstream.js';
import { environmentProxy } from '../../adapters/undici/environment-proxy.js';
import { UndiciUpstream } from '../../adapters/undici/undici-upstream.js';
import { upstreamFetch } from '../../adapters/undici/upstream-fetch.js';
import { isBelow } from '../../domain/shared/paths.js';
import type { HttpUpstream, UpstreamRequest } from '../../ports/http.js';
import type { ResolvedConfig } from '../config/resolve-config.js';
import type { UpstreamSource } from './container.js';

type Settings = Pick<ResolvedConfig, 'dispatcher' | 'agent' | 'serviceApi' | 'timeouts'>;

/** The connections to agent and platform: the site's dispatchers; otherwise `shared`, or connections of the toolkit's own. */
export function upstreamSource(settings: Settings, shared?: HttpUpstream): UpstreamSource {
  const { dispatcher, agent, serviceApi, timeouts } = settings;
  const usual = shared === undefined ? ownSource(timeouts.connectMs) : lent(shared);
  if (dispatcher === undefined) return usual;
  const [toAgent, toPlatform] = [dispatcher.agent, dispatcher.platform].map((one) =>
    one === undefined ? usual : lent(dispatched(one)),
  ) as [UpstreamSource, UpstreamSource];
  if (dispatcher.agent === dispatcher.platform) return toAgent;
  const addresses = [agent, serviceApi].flatMap((address) => [address?.origin, address?.path]);
  return {
    key: [...toAgent.key, ...toPlatform.key, ...addresses],
    connect: () => parted(settings, toAgent.connect(), toPlatform.connect()),
  };
}

/** Connections without a dispatcher of the site: through the environment's proxy, if it names one. */
export function ownSource(connectMs: number): UpstreamSource {
  const proxy = environmentProxy();
  if (proxy !== undefined) return lent(proxy);
  return { key: [connectMs], connect: () => new UndiciUpstream({ connectMs }) };
}

/** Sends requests to identity providers as those to the platform; `undefined` for the global `fetch`. */
export function providerFetch({ dispatcher }: Settings): typeof fetch | undefined {
  const upstream = dispatcher?.platform === undefined ? environmentProxy() : dispatched(dispatcher.platform);
  return upstream && upstreamFetch(upstream);
}

/** One upstream for each dispatcher, however many toolkits use it: what slow readers have not taken is bounded for all. */
const upstreams = new WeakMap<DispatcherLike, HttpUpstream>();

function dispatched(dispatcher: DispatcherLike): HttpUpstream {
  const upstream =
    upstreams.get(dispatcher) ?? new DispatcherUpstream(() => Promise.resolve(dispatcher), '"dispatcher"');
  upstreams.set(dispatcher, upstream);
  return upstream;
}

/** Divides requests by origin, or by the agent's path if agent and platform have one origin. Cards elsewhere are the agent's. */
function parted({ agent, serviceApi }: Settings, toAgent: HttpUpstream, toPlatform: HttpUpstream): HttpUpstream {
  const isForAgent = ({ origin, path }: UpstreamRequest): boolean =>
    origin !== serviceApi?.origin || (origin === agent?.origin && isBelow(path, agent.path));
  return {
    send: (request) => (isForAgent(request) ? toAgent : toPlatform).send(request),
    close: async (options) => {
      await Promise.all([toAgent.close(options), toPlatform.close(options)]);
    },
  };
}

/** An upstream that others may use too, and that is not the toolkit's to close. Closing ends only the calls of this toolkit. */
export function lent(upstream: HttpUpstream): UpstreamSource {
  return { key: [upstream], connect: () => borrowed(upstream) };
}

function borrowed(upstream: HttpUpstream): HttpUpstream {
  // Not `AbortSignal.any`: in Node 20 it leaks some bytes for each call of a signal that lives as long as the toolkit.
  const calls = new Set<WeakRef<AbortController>>();
  const ended = new FinalizationRegistry<WeakRef<AbortController>>((call) => calls.delete(call));
  return {
    send: (request) => {
      const { signal } = request;
      const call = new AbortController();
      const abort = (): void => call.abort(signal.reason);
      if (signal.aborted) abort();
      // The listener also keeps the controller alive as long as the caller has its signal.
      else signal.addEventListener('abort', abort, { once: true });
      const reference = new WeakRef(call);
      calls.add(reference);
      ended.register(call, reference);
      return upstream.send({ ...request, signal: call.signal });
    },
    close: (options) => {
      if (options !== undefined) for (const call of calls) call.deref()?.abort();
      return Promise.resolve();
    },
  };
}
