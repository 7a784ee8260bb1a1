import { setTimeout as wait } from 'node:timers/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';

/** A fault of an endpoint of the test provider. */
export interface Fault {
  /** Milliseconds to wait before anything else. */
  readonly delayMs?: number;
  /** The response waits until this resolves. */
  readonly until?: Promise<void>;
  /** Never responds. */
  readonly hang?: boolean;
  /** Closes the connection without a response. */
  readonly destroy?: boolean;
  /** The response sent instead of the provider's. An object as `body` is sent as JSON, a string as HTML. */
  readonly status?: number;
  readonly body?: string | object;
  readonly headers?: Readonly<Record<string, string>>;
  /** The number of requests it affects. Default: all. */
  readonly times?: number;
  /** Changes the JSON of the provider's response. A string is sent unchanged. */
  readonly transform?: (body: Record<string, unknown>) => Record<string, unknown> | string;
}

/** The faults of the two kinds of endpoint. Assign one to make an endpoint fail, delete it to repair the endpoint. */
export interface Faults {
  token?: Fault;
  metadata?: Fault;
}

const left = new WeakMap<Fault, number>();

/** Applies the fault of an endpoint to one request. True if the provider should still respond. */
export async function passesFault(
  faults: Faults,
  endpoint: keyof Faults,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<boolean> {
  const fault = faults[endpoint];
  if (fault === undefined) return true;
  if (fault.times !== undefined) {
    const times = left.get(fault) ?? fault.times;
    if (times <= 0) return true;
    left.set(fault, times - 1);
  }
  if (fault.delayMs !== undefined) await wait(fault.delayMs);
  await fault.until;
  if (fault.hang === true) return false;
  if (fault.destroy === true) {
    request.socket.destroy();
    return false;
  }
  if (fault.status !== undefined) {
    const json = typeof fault.body === 'object';
    response.writeHead(fault.status, {
      'content-type': json ? 'application/json' : 'text/html; charset=utf-8',
      ...fault.headers,
    });
    response.end(typeof fault.body === 'object' ? JSON.stringify(fault.body) : (fault.body ?? ''));
    return false;
  }
  if (fault.transform !== undefined) transformAnswer(response, fault.transform);
  return true;
}

// Koa sends a JSON response in one `end`, so changing that call changes the response.
function transformAnswer(response: ServerResponse, transform: NonNullable<Fault['transform']>): void {
  const end = response.end.bind(response) as (text: string) => ServerResponse;
  response.end = ((chunk: string | Buffer) => {
    const changed = transform(JSON.parse(String(chunk)) as Record<string, unknown>);
    const text = typeof changed === 'string' ? changed : JSON.stringify(changed);
    response.setHeader('content-length', Buffer.byteLength(text));
    return end(text);
  }) as typeof response.end;
}
