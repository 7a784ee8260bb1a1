import { decodeSegment } from '../upstream/safe-path.js';

/** A call in the HTTP+JSON binding, by its path. */
export interface RestPath {
  /** The A2A method for each HTTP method of this path. */
  readonly methods: Readonly<Record<string, string>>;
  /** The path below the agent's interface, re-encoded. */
  readonly path: string;
  /** The tenant before the path, decoded; empty if there is none. */
  readonly tenant: string;
  /** The task in the path, decoded; absent if there is none. */
  readonly taskId?: string;
  /** True for the binding of v0.3, whose paths start with `/v1`. */
  readonly isOld: boolean;
}

/** Paths of the binding (A2A v1.0 §11; v0.3 has the same below `/v1`). The first match decides. */
const PATHS: Readonly<Record<string, RestPath['methods']>> = {
  '/message:send': { POST: 'SendMessage' },
  '/message:stream': { POST: 'SendStreamingMessage' },
  '/extendedAgentCard': { GET: 'GetExtendedAgentCard' },
  '/tasks': { GET: 'ListTasks' },
  '/tasks/{id}:cancel': { POST: 'CancelTask' },
  // The specification says POST, its protocol buffers say GET, and clients use either.
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

/** Parses a raw path below the mount point; `undefined` if it is not part of the binding. */
export function restPath(path: string): RestPath | undefined {
  const isOld = path.startsWith('/v1/');
  if (isOld) return known(path === `/v1${OLD_CARD}` ? '/extendedAgentCard' : path.slice(3), '', true);
  if (ROOTS.test(path)) return known(path, '', false);
  // v1.0 allows a tenant before the path.
  const [, tenant = '', rest = ''] = /^\/([^/]+)(\/.+)$/.exec(path) ?? [];
  const decoded = decodeSegment(tenant);
  return decoded === undefined ? undefined : known(rest, decoded, false);
}

function known(path: string, tenant: string, isOld: boolean): RestPath | undefined {
  for (const { template, methods, pattern } of READERS) {
    const match = pattern.exec(path);
    if (match === null) continue;
    const values = match.slice(1).map(segment);
    if (values.includes(undefined)) return undefined;
    const written = isOld && template === '/extendedAgentCard' ? OLD_CARD : template;
    const prefix = isOld ? '/v1' : tenant && `/${encodeURIComponent(tenant)}`;
    const [id] = values;
    const address = prefix + written.replaceAll(/\{\w+\}/g, () => values.shift() ?? '');
    return { methods, isOld, tenant, path: address, ...(id === undefined ? {} : { taskId: decodeURIComponent(id) }) };
  }
  return undefined;
}

/** An id, re-encoded; `undefined` if a parser could confuse it with another call. */
function segment(raw: string): string | undefined {
  const decoded = decodeSegment(raw);
  return decoded === undefined || endsInCall(decoded) ? undefined : encodeURIComponent(decoded);
}

/** True if an id in a path could be parsed as a call on another task, such as `7:cancel`. */
export function endsInCall(id: string): boolean {
  return /(?::|%(?:25)*3a)(?:cancel|subscribe)$/i.test(id);
}
