import { createServer, type IncomingMessage, request as forward, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { connect, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';
import { privateAuthority } from './identity-provider/private-authority.js';
import { closeAll, listening } from './listening.mjs';

/** A forward proxy as companies run them: it opens tunnels (`CONNECT`, RFC 9110 §9.3.6), and forwards plain requests. */
export interface ConnectProxy {
  /** Its address, with user name and password if it requires them. */
  readonly address: string;
  /** Hosts and ports it was asked for, in that order and each once. */
  readonly hosts: readonly string[];
}

/** Differences from a proxy that serves everyone. */
export interface ConnectProxyOptions {
  /** Required of the user `site`. Default: none. */
  readonly password?: string;
  /** The status of its refusal of every host. Default: it refuses none. */
  readonly refusal?: number;
  /** True if it is spoken to over TLS, with a certificate of the private authority. */
  readonly tls?: boolean;
}

/** Starts a proxy that is closed when the test ends. */
export async function connectProxy({
  password,
  refusal,
  tls = false,
}: ConnectProxyOptions = {}): Promise<ConnectProxy> {
  const { serverCertificate: cert, serverKey: key } = privateAuthority();
  const server = tls ? createTlsServer({ cert, key }) : createServer();
  const hosts = new Set<string>();
  const sockets = new Set<Socket>();
  const credentials = `Basic ${Buffer.from(`site:${password ?? ''}`).toString('base64')}`;
  /** The status of a refusal; undefined if the request is served. */
  const refused = (request: IncomingMessage, target: string): number | undefined => {
    hosts.add(target);
    const isKnown = password === undefined || request.headers['proxy-authorization'] === credentials;
    return isKnown ? refusal : 407;
  };
  server.on('connect', (request: IncomingMessage, socket: Socket, head: Buffer) => {
    const target = request.url ?? '';
    const status = refused(request, target);
    socket.on('error', () => socket.destroy());
    if (status !== undefined) {
      socket.end(`HTTP/1.1 ${String(status)} Refused\r\ncontent-length: 0\r\n\r\n`);
      return;
    }
    const { hostname, port } = new URL(`http://${target}`);
    const there = connect(Number(port || 80), hostname, () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
      there.write(head);
      there.pipe(socket).pipe(there);
    });
    for (const one of [socket, there]) sockets.add(one);
    there.on('error', () => socket.destroy()).on('close', () => socket.destroy());
    socket.on('close', () => there.destroy());
  });
  // undici 8 opens no tunnel to a host without TLS.
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const { url = '', method, headers } = request;
    const status = refused(request, new URL(url).host);
    if (status !== undefined) {
      response.writeHead(status).end();
      return;
    }
    const there = forward(url, { method, headers, agent: false }, (answer) => {
      // Otherwise Node adds chunks, and half a response that ends with its connection would be whole.
      if (!answer.headers['transfer-encoding']) response.removeHeader('transfer-encoding');
      response.writeHead(answer.statusCode ?? 502, answer.rawHeaders);
      answer.on('error', () => response.destroy()).pipe(response);
    });
    there.on('error', () => response.destroy());
    request.pipe(there);
  });
  const origin = await listening(server);
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy();
    await closeAll(server);
  });
  // A name, since clients send none to an IP address.
  const host = origin.slice('http://'.length).replace('127.0.0.1', tls ? 'localhost' : '127.0.0.1');
  const user = password === undefined ? '' : `site:${password}@`;
  return {
    address: `${tls ? 'https' : 'http'}://${user}${host}`,
    get hosts() {
      return [...hosts];
    },
  };
}
