import type { RecordedRequest } from '../../../support/recording-upstream.js';

/** The only fields allowed in a request to the platform. */
const REQUEST_FIELDS = new Set([
  ...'host connection content-length transfer-encoding authorization x-api-key x-project-id'.split(' '),
  ...'content-type accept accept-encoding accept-language a2a-version a2a-extensions x-a2a-extensions'.split(' '),
  ...'last-event-id idempotency-key traceparent tracestate if-none-match'.split(' '),
]);

/** Further fields allowed in requests for conversation records. */
const RECORD_FIELDS = new Set(
  'content-encoding if-match if-modified-since if-unmodified-since if-range range'.split(' '),
);

/** The only fields allowed in a response to a browser, including the host's own. */
const ANSWER_FIELDS = new Set([
  ...'date connection keep-alive transfer-encoding content-length x-powered-by'.split(' '),
  ...'content-type content-language content-encoding content-disposition content-range accept-ranges'.split(' '),
  ...'etag last-modified retry-after vary allow cache-control a2a-version a2a-extensions'.split(' '),
  ...'x-a2a-extensions x-surface-version x-cache x-content-type-options content-security-policy'.split(' '),
  ...'x-accel-buffering www-authenticate x-api-version'.split(' '),
]);

const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/** The platform behind the site, and secrets that no visitor may see. */
export interface Secrets {
  readonly upstreamHost: string;
  readonly apiKey: string;
  readonly texts: readonly string[];
}

/** The faults that a request to the platform must never have. `users` are the users whose cookies were sent. */
export function unsafeRequest(request: RecordedRequest, secrets: Secrets, users: readonly string[]): string[] {
  const found: string[] = [];
  const { method, target, fields } = request;
  const values = (name: string): string[] => fields.filter(([field]) => field === name).map(([, value]) => value);
  const isRecord = !/^\/(?:agent|platform)\/v1(?:\/(?:surfaces\/|project$|brand\.css$)|[?]|$)/.test(target);
  for (const [index, [name]] of fields.entries()) {
    if (!REQUEST_FIELDS.has(name) && !(isRecord && RECORD_FIELDS.has(name))) found.push(`sent the field "${name}"`);
    if (fields.findIndex(([other]) => other === name) !== index) found.push(`sent "${name}" twice`);
  }
  if (!METHODS.has(method) && !/^(?:PROPFIND|SEARCH|PURGE|QUERY|M-SEARCH)$/.test(method)) found.push(`sent ${method}`);
  if (values('host').join() !== secrets.upstreamHost) found.push(`sent the host "${values('host').join()}"`);
  const coding = values('accept-encoding').join();
  if (coding !== 'identity') found.push(`asked for "${coding}" instead of plain bytes`);
  if (values('content-length').length > 0 && values('transfer-encoding').length > 0) found.push('sent two framings');
  const bearers = values('authorization');
  const keys = values('x-api-key');
  const own = users.map((user) => `Bearer token-of-${user}`);
  const isOurs = (bearer: string): boolean => /^Bearer visitor-service-token-\d+$/.test(bearer) || own.includes(bearer);
  if (bearers.length > 1 || !bearers.every(isOurs)) found.push(`sent ${bearers.join(' and ')}`);
  if (keys.some((key) => key !== secrets.apiKey)) found.push(`sent the key ${keys.join()}`);
  const isWidget = target.startsWith('/platform/v1/surfaces/');
  if (bearers.length === 0 && !(isWidget && keys.length === 1)) found.push('sent no credential');
  return [...found, ...unsafeTarget(target)];
}

/** True if the path stays below one of the two base paths, however often it is decoded. */
function unsafeTarget(target: string): string[] {
  if (!/^[\x21-\x7e]+$/.test(target)) return [`sent a target that is not ASCII: ${JSON.stringify(target)}`];
  if (target.includes('#')) return [`sent a fragment: ${target}`];
  const [path = ''] = target.split('?', 1);
  if (
    path !== '/agent/v1' &&
    !path.startsWith('/platform/v1/') &&
    !/^(?:\/agent\/v1)?\/(?:\.well-known\/|v1\/card|extendedAgentCard|agent\/)/.test(path)
  )
    return [`sent ${target}`];
  let reading = path;
  for (let round = 0; round < 4; round += 1) {
    const segments = reading.split('/').map((segment) => segment.split(';', 1)[0]?.trim());
    if (segments.some((segment) => segment === '.' || segment === '..') || /[\\\0]/.test(reading))
      return [`sent ${target}`];
    if (reading.split('/').length !== path.split('/').length) return [`sent another depth: ${target}`];
    try {
      reading = decodeURIComponent(reading).normalize('NFKC');
    } catch {
      return round === 0 ? [`sent a path that does not decode: ${target}`] : [];
    }
  }
  return [];
}

/** The faults of a response to a browser in any case. */
export function unsafeReply(text: string, secrets: Secrets): string[] {
  const found: string[] = [];
  for (const secret of secrets.texts) if (text.includes(secret)) found.push(`told the visitor "${secret}"`);
  for (const head of text.matchAll(/HTTP\/1\.1 \d{3}[^\r\n]*\r\n((?:[^\r\n]+\r\n)*)/g)) {
    const seen = new Set<string>();
    for (const line of (head[1] ?? '').split('\r\n').filter((one) => one !== '')) {
      const name = line.split(':', 1)[0]?.toLowerCase() ?? '';
      if (!ANSWER_FIELDS.has(name)) found.push(`answered with the field "${name}"`);
      if (seen.has(name) && (name === 'content-length' || name === 'transfer-encoding'))
        found.push(`answered "${name}" twice`);
      seen.add(name);
    }
    if (seen.has('content-length') && seen.has('transfer-encoding')) found.push('answered with two framings');
  }
  return found;
}
