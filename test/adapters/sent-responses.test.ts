import { once } from 'node:events';
import { createServer, get, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { toResponse } from '../../src/adapters/fetch/fetch-handler.js';
import { FetchRequest, requestAddress } from '../../src/adapters/fetch/request.js';
import { NodeRequest } from '../../src/adapters/node/request.js';
import { answer, visitorOf } from '../support/http2-site.js';

/** A site over HTTP/1.1 whose responses the test ends. */
async function startSite() {
  const sent: boolean[] = [];
  const responses: ServerResponse[] = [];
  const server = createServer((request, response) => {
    const read = new NodeRequest(request, response, { target: '/', publicUrl: () => '' });
    read.onSent((isSent) => sent.push(isSent));
    responses.push(response);
  }).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  const visit = get({ port: (server.address() as AddressInfo).port, host: '127.0.0.1' });
  const reply = new Promise((resolve) => visit.once('response', (response) => resolve(response.resume())));
  visit.on('error', () => undefined);
  await vi.waitFor(() => expect(responses).toHaveLength(1));
  return { sent, response: responses[0]!, visit, reply };
}

describe('a response counts as sent', () => {
  it('once it has been written out', async () => {
    const { sent, response, reply } = await startSite();
    expect(sent).toEqual([]);
    response.end('all');
    await reply;
    expect(new Set(sent)).toEqual(new Set([true]));
  });

  it('over HTTP/2', async () => {
    const sent: boolean[] = [];
    const visitor = await visitorOf((request) => {
      request.onSent?.((isSent) => sent.push(isSent));
      return Promise.resolve(answer('all'));
    });
    await (await visitor.visit()).text();
    await vi.waitFor(() => expect(new Set(sent)).toEqual(new Set([true])));
  });
});

describe('a response does not count as sent', () => {
  it('to a visitor who left before it, even if the site ends it afterwards', async () => {
    const { sent, response, visit } = await startSite();
    visit.destroy();
    await once(response, 'close');
    response.end('late');
    await new Promise((resolve) => setImmediate(resolve));
    expect(new Set(sent)).toEqual(new Set([false]));
  });

  it('to a visitor who reset the stream over HTTP/2', async () => {
    const sent: boolean[] = [];
    let hasStarted = false;
    const visitor = await visitorOf((request) => {
      request.onSent?.((isSent) => sent.push(isSent));
      hasStarted = true;
      return new Promise((resolve) => request.signal?.addEventListener('abort', () => resolve(answer('late'))));
    });
    const { leave } = visitor.start();
    await vi.waitFor(() => expect(hasStarted).toBe(true));
    leave();
    await vi.waitFor(() => expect(sent.length).toBeGreaterThan(0));
    expect(new Set(sent)).toEqual(new Set([false]));
  });
});

it.each([
  ['counts as sent when it is made', false],
  ['does not if the browser has left before', true],
])('a Web Response %s', async (_what, hasLeft) => {
  const leaving = new AbortController();
  const request = new Request('https://site.example/', { signal: leaving.signal });
  const read = new FetchRequest(request, requestAddress(request.url), { mount: '', path: '/' });
  const sent: boolean[] = [];
  read.onSent((isSent) => sent.push(isSent));
  if (hasLeft) leaving.abort();
  await toResponse({ status: 200, headers: {}, body: 'all' }, read);
  expect(sent).toEqual([!hasLeft]);
});
