import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createToolkit, type Toolkit } from 'agent-bff';
import { createNodeHandler } from 'agent-bff/node';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { RecordingUpstream } from '../support/recording-upstream.js';

let platform: RecordingUpstream;
let toolkit: Toolkit;
let server: Server;
beforeEach(async () => {
  platform = await RecordingUpstream.start();
  platform.willWait();
  toolkit = createToolkit({
    a2aUrl: `${platform.origin}/a2a`,
    serviceAuthStrategy: 'none',
    conversations: 'open',
    telemetry: 'silent',
  });
  server = createServer(createNodeHandler({ toolkit })).listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterEach(async () => {
  server.close().closeAllConnections();
  await platform.close();
});

async function openStream(end: boolean): Promise<Response> {
  const { port } = server.address() as AddressInfo;
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'SendStreamingMessage', params: {} });
  const headers = { 'content-type': 'application/json' };
  const pending = fetch(`http://127.0.0.1:${String(port)}/api/a2a`, { method: 'POST', body, headers });
  const exchange = await platform.next();
  exchange.eventStream().write('data: one\n\n');
  const response = await pending;
  if (end) exchange.end('data: two\n\n');
  return response;
}

describe('toolkit.shutDown', () => {
  it('stops the server, finishes the open stream and closes the connections that are left', async () => {
    const response = await openStream(true);
    const closed = once(server, 'close');
    const [text] = await Promise.all([response.text(), toolkit.shutDown(server), closed]);
    expect(text).toBe('data: one\n\ndata: two\n\n');
    expect(server.listening).toBe(false);
  });

  it('stops the server once, however often it is called', async () => {
    let closes = 0;
    server.on('close', () => (closes += 1));
    await Promise.all([toolkit.shutDown(server), toolkit.shutDown(server)]);
    await toolkit.shutDown(server);
    expect(closes).toBe(1);
  });

  it('ends streams after the pause that it is given', async () => {
    const response = await openStream(false);
    await toolkit.shutDown(server, { graceMs: 0 });
    expect(await response.text()).toContain('event: error');
    expect((await toolkit.health()).status).toBe('closing');
  });

  it('leaves the server to a framework that owns it', async () => {
    await toolkit.shutDown();
    expect((await toolkit.health()).status).toBe('closing');
    expect(server.listening).toBe(true);
  });

  it('changes nothing when its server is refused', async () => {
    await expect(toolkit.shutDown((() => undefined) as never)).rejects.toThrow('such as the result of app.listen()');
    expect((await toolkit.health()).status).not.toBe('closing');
  });
});
