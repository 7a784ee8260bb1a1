/** What the forwarder reads of a JSON-RPC request; the body itself crosses as it came. */
export interface RpcEnvelope {
  /** The request's id, to be repeated in every error answer; null when it has none that JSON-RPC 2.0 allows. */
  readonly id: string | number | null;
  readonly method: string;
  readonly params: unknown;
}

const MEMBERS: ReadonlySet<string> = new Set(['jsonrpc', 'id', 'method', 'params']);

/**
 * Reads the envelope of a JSON-RPC 2.0 request; `undefined` when the value is none.
 * A member in another case (`Method`) makes it none: some readers would take it for the real one.
 */
export function rpcEnvelope(value: unknown): RpcEnvelope | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  const { id, method, params } = value as Record<string, unknown>;
  if (typeof method !== 'string') return undefined;
  if (Object.keys(value).some((name) => !MEMBERS.has(name) && MEMBERS.has(name.toLowerCase()))) return undefined;
  return { id: rpcId(id), method, params };
}

/** The id of whatever a body held, so that an error finds its request even when the rest is no JSON-RPC. */
export function rpcIdOf(value: unknown): string | number | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? rpcId((value as { id?: unknown }).id)
    : null;
}

function rpcId(id: unknown): string | number | null {
  return typeof id === 'string' || typeof id === 'number' ? id : null;
}
