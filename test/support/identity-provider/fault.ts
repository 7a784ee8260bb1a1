import { setTimeout as wait } from 'node:timers/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';

/** What goes wrong at an endpoint of the double. */
export interface Fault {
  /** Milliseconds to wait before anything else. */
  readonly delayMs?: number;
  /** The answer waits until this resolves. */
  readonly until?: Promise<void>;
  /** Never answers. */
  readonly hang?: boolean;
  /** Ends the connection without an answer. */
  readonly destroy?: boolean;
  /** Answers in place of the provider. An object as `body` is sent as JSON, a string as HTML. */
  readonly status?: number;
  readonly body?: string | object;
  readonly headers?: Readonly<Record<string, string>>;
  /** How many requests it touches. Default: all. */
  readonly times?: number;
  /** Changes the JSON the provider answers with; a string is sent as it is. */
  readonly transform?: (body: Record<string, unknown>) => Record<string, unknown> | string;
}

/** The faults of the two kinds of endpoint; assign to make an endpoint fail, delete to heal it. */
export interface Faults {
  token?: Fault;
  metadata?: Fault;
}

const left = new WeakMap<Fault, number>();

/** Applies the fault of an endpoint to one request; true when the provider shall answer. */
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

// Koa sends a JSON answer in one `end`, so changing that call changes the answer.
function transformAnswer(response: ServerResponse, transform: NonNullable<Fault['transform']>): void {
  const end = response.end.bind(response) as (text: string) => ServerResponse;
  response.end = ((chunk: string | Buffer) => {
    const changed = transform(JSON.parse(String(chunk)) as Record<string, unknown>);
    const text = typeof changed === 'string' ? changed : JSON.stringify(changed);
    response.setHeader('content-length', Buffer.byteLength(text));
    return end(text);
  }) as typeof response.end;
}
