import { createServer } from 'node:https';
import type { TLSSocket } from 'node:tls';
import { onTestFinished } from 'vitest';
import { privateAuthority } from './identity-provider/private-authority.js';
import { closeAll, listening } from './listening.mjs';

/** Agent, platform or identity provider of a company, with a certificate of its own authority. */
export interface CorporateHost {
  readonly origin: string;
  /** Method, path, and `authorization` of each request, oldest first. */
  readonly requests: string[];
}

/** Starts a host that is closed when the test ends; with `isMutual`, only clients with a certificate are served. */
export async function corporateHost(isMutual = false): Promise<CorporateHost> {
  const { ca, serverCertificate: cert, serverKey: key } = privateAuthority();
  const requests: string[] = [];
  const server = createServer({ ca, cert, key, requestCert: isMutual, rejectUnauthorized: isMutual });
  server.on('request', (request, response) => {
    const { method = '', url = '', headers, socket } = request;
    const isKnown = isMutual ? ' with a certificate' : '';
    if (isMutual && !(socket as TLSSocket).authorized) throw new Error('an unknown client was let in');
    requests.push(`${method} ${url} ${headers.authorization ?? '-'}${isKnown}`);
    request.resume();
    response.setHeader('content-type', url.endsWith('.css') ? 'text/css' : 'application/json');
    response.end(url.endsWith('.css') ? ':root { --brand: red }' : JSON.stringify(answers[url]));
  });
  const origin = (await listening(server)).replace('http:', 'https:');
  onTestFinished(() => closeAll(server));
  const answers: Record<string, unknown> = {
    '/.well-known/openid-configuration': { issuer: `${origin}/`, token_endpoint: `${origin}/token` },
    '/token': { access_token: 'a-token', token_type: 'Bearer', expires_in: 300 },
    '/a2a': { jsonrpc: '2.0', id: 1, result: { kind: 'message', messageId: 'm', role: 'agent', parts: [] } },
  };
  return { origin, requests };
}
