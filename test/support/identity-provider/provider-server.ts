import { once } from 'node:events';
import { createServer as createHttpServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { closeAll } from '../listening.mjs';
import { passesFault, type Faults } from './fault.js';
import { privateAuthority } from './private-authority.js';
import { RequestLog } from './request-log.js';

/** The HTTP server of a provider. */
export interface ProviderServer {
  /** Scheme, host and port, without a trailing slash. */
  readonly origin: string;
  readonly faults: Faults;
  readonly tokenRequests: RequestLog;
  /** Requests for the provider's metadata. */
  readonly metadataRequests: RequestLog;
  /** Sets the handler of requests. */
  answerWith(handler: ProviderHandler): void;
  close(): Promise<void>;
}

/** Handles a request that has no fault. */
export type ProviderHandler = (request: IncomingMessage, response: ServerResponse) => void;

/** Starts a server on a free local port. Faults and counters apply before the provider. */
export async function startProviderServer(options: { readonly insecure: boolean }): Promise<ProviderServer> {
  const faults: Faults = {};
  const tokenRequests = new RequestLog();
  const metadataRequests = new RequestLog();
  let handler: ProviderHandler | undefined;

  async function answer(request: IncomingMessage & { body?: unknown }, response: ServerResponse): Promise<void> {
    // Writes fail when a client has disconnected. The test provider ignores that.
    response.on('error', () => undefined);
    const body = await read(request);
    if (request.method === 'POST') {
      tokenRequests.add(body, request.headers);
      if (!(await passesFault(faults, 'token', request, response))) return;
      // The provider reads a consumed body from here.
      request.body = body;
    } else if (request.url?.includes('/.well-known/openid-configuration') === true) {
      metadataRequests.add('', request.headers);
      if (!(await passesFault(faults, 'metadata', request, response))) return;
    }
    handler?.(request, response);
  }

  const listener = (request: IncomingMessage, response: ServerResponse): void => {
    answer(request, response).catch(() => response.destroy());
  };
  const { serverKey: key, serverCertificate: cert } = privateAuthority();
  const server: Server = options.insecure ? createHttpServer(listener) : createHttpsServer({ key, cert }, listener);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');

  return {
    origin: `${options.insecure ? 'http' : 'https'}://127.0.0.1:${(server.address() as AddressInfo).port}`,
    faults,
    tokenRequests,
    metadataRequests,
    answerWith(next) {
      handler = next;
    },
    close: () => closeAll(server),
  };
}

async function read(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}
