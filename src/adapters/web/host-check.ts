import { RequestError } from '../../domain/shared/errors.js';
import type { HeaderFields, HttpHandler, HttpRequest, HttpResponse } from '../../ports/http.js';
import { readHost } from './host-name.js';

/** By which names a server may be called. */
export interface HostPolicy {
  /** Names that count on every port. */
  readonly names: ReadonlySet<string>;
  /** Names that count on one port, such as `site.example:8443`; `site.example:` where the field leaves the port out. */
  readonly places: ReadonlySet<string>;
  /** Whether every name of this machine counts, on every port. */
  readonly loopback: boolean;
}

/** A handler that is reached only by the names of a policy; `refuse` responds to all other requests (RFC 9110 §15.5.20). */
export function behindHostCheck(
  handler: HttpHandler,
  policy: HostPolicy,
  refuse: (request: HttpRequest, error: RequestError) => HttpResponse,
): HttpHandler {
  return (request) =>
    isServed(request.headers, policy) ? handler(request) : Promise.resolve(refuse(request, refusal()));
}

function isServed(headers: HeaderFields, { names, places, loopback }: HostPolicy): boolean {
  const { host } = headers;
  if (typeof host !== 'string') return false;
  if (names.has(host)) return true; // As browsers write it, which is nearly always.
  const read = readHost(host);
  if (read === undefined) return false;
  const { name, port } = read;
  return names.has(name) || places.has(`${name}:${port}`) || (loopback && isLoopback(name));
}

/** Names that no resolver may lead elsewhere (RFC 6761 §6.3), and the addresses of this machine. */
function isLoopback(name: string): boolean {
  return name === 'localhost' || name.endsWith('.localhost') || name === '[::1]' || /^127(?:\.\d+){3}$/.test(name);
}

function refusal(): RequestError {
  return new RequestError('host_refused', {
    detail: 'The request names a host that this server does not serve.',
    hint: 'Set "publicUrl" to the address visitors use, or add the host to "allowedHosts" in configureServer.',
    fields: ['publicUrl', 'allowedHosts'],
  });
}
