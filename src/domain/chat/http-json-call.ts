import { decodeSegment } from '../upstream/safe-path.js';

/** A call in the HTTP+JSON binding, as its path tells it. */
export interface HttpJsonCall {
  /** The A2A method behind each HTTP method of this path. */
  readonly methods: Readonly<Record<string, string>>;
  /** The path below the agent's interface, written anew. */
  readonly path: string;
  /** Whether it is the binding of v0.3, whose paths start with `/v1`. */
  readonly legacy: boolean;
}

/** Paths of the binding (A2A v1.0 §11; v0.3 has the same below `/v1`). The first that fits decides. */
const PATHS: Readonly<Record<string, HttpJsonCall['methods']>> = {
  '/message:send': { POST: 'SendMessage' },
  '/message:stream': { POST: 'SendStreamingMessage' },
  '/extendedAgentCard': { GET: 'GetExtendedAgentCard' },
  '/tasks': { GET: 'ListTasks' },
  '/tasks/{id}:cancel': { POST: 'CancelTask' },
  // The specification says POST, its protocol buffers say GET, and clients do either.
  '/tasks/{id}:subscribe': { GET: 'SubscribeToTask', POST: 'SubscribeToTask' },
  '/tasks/{id}': { GET: 'GetTask' },
  '/tasks/{id}/pushNotificationConfigs': {
    GET: 'ListTaskPushNotificationConfigs',
    POST: 'CreateTaskPushNotificationConfig',
  },
  '/tasks/{id}/pushNotificationConfigs/{config}': {
    GET: 'GetTaskPushNotificationConfig',
    DELETE: 'DeleteTaskPushNotificationConfig',
  },
};
const OLD_CARD = '/card';

const READERS = Object.entries(PATHS).map(([template, methods]) => ({
  template,
  methods,
  pattern: new RegExp(`^${template.replaceAll(/\{\w+\}/g, '([^/]+?)')}$`),
}));
const ROOTS = /^\/(?:message:|tasks(?:\/|$)|extendedAgentCard$)/;

/** Reads a raw path below the mount point; `undefined` when it is none of the binding. */
export function httpJsonCall(path: string): HttpJsonCall | undefined {
  const legacy = path.startsWith('/v1/');
  if (legacy) return known(path === `/v1${OLD_CARD}` ? '/extendedAgentCard' : path.slice(3), '/v1', true);
  if (ROOTS.test(path)) return known(path, '', false);
  // v1.0 may put a tenant in front.
  const [, tenant = '', rest = ''] = /^\/([^/]+)(\/.+)$/.exec(path) ?? [];
  const decoded = decodeSegment(tenant);
  return decoded === undefined ? undefined : known(rest, `/${encodeURIComponent(decoded)}`, false);
}

function known(path: string, prefix: string, legacy: boolean): HttpJsonCall | undefined {
  for (const { template, methods, pattern } of READERS) {
    const match = pattern.exec(path);
    if (match === null) continue;
    const values = match.slice(1).map(segment);
    if (values.includes(undefined)) return undefined;
    const written = legacy && template === '/extendedAgentCard' ? OLD_CARD : template;
    return { methods, legacy, path: prefix + written.replaceAll(/\{\w+\}/g, () => values.shift() ?? '') };
  }
  return undefined;
}

/** An id, percent-encoded anew. One that a reader could take for another call has no place here. */
function segment(raw: string): string | undefined {
  const decoded = decodeSegment(raw);
  return decoded === undefined || /:(?:cancel|subscribe)$/i.test(decoded) ? undefined : encodeURIComponent(decoded);
}
