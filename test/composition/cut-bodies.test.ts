import { expect, it, onTestFinished } from 'vitest';
import { createToolkit } from '../../src/composition/index.js';
import { createWebHandler } from '../../src/composition/web.js';
import { listeningSite } from '../site/frameworks/listening-site.js';

/** A platform behind all routes that records the bodies it received in full. */
async function start(): Promise<{ handle: (request: Request) => Promise<Response>; whole: string[] }> {
  const whole: string[] = [];
  const platform = await listeningSite((request, response) => {
    request.resume().on('end', () => {
      whole.push(String(request.url));
      response.setHeader('content-type', 'application/json').end('{"jsonrpc":"2.0","id":1,"result":{}}');
    });
  });
  const { url } = platform;
  const toolkit = createToolkit({ a2aUrl: `${url}/a2a`, serviceApiUrl: `${url}/api`, serviceApiKey: 'key' });
  const auth = (): string => 'ada-token';
  onTestFinished(async () => {
    await toolkit.close();
    await platform.close();
  });
  return { whole, handle: createWebHandler({ toolkit, surfaces: { auth }, service: { auth } }) };
}

it.each([
  ['the chat', '/api/a2a'],
  ['a widget', '/api/service-surfaces/poll/render'],
  ['the records', '/api/service/conversations'],
])(
  'a body of %s that is shorter than its Content-Length gets 400, and the platform gets no request',
  async (_route, path) => {
    const { handle, whole } = await start();
    const body = '{"jsonrpc":"2.0","id":1,"method":"message/send","params":{"message":{}}}';
    const send = (length: number): Promise<Response> =>
      handle(
        new Request(`https://site.example${path}`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', 'content-length': String(length), host: 'site.example' },
          body,
        }),
      );
    const cut = await send(body.length + 1);
    expect([cut.status, await cut.text()]).toEqual([
      400,
      expect.stringContaining(`cut on its way: ${String(body.length)} of ${String(body.length + 1)} bytes arrived`),
    ]);
    expect(whole).toEqual([]);
    expect((await send(body.length)).status).not.toBe(400);
    expect(whole).toHaveLength(1);
  },
);
