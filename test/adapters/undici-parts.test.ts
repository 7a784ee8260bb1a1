import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { responseOf, textOf, upstreamRequest } from '../contracts/http-upstream.contract.js';
import { RecordingUpstream } from '../support/recording-upstream.js';

const PRIVATE = 'undici/lib/dispatcher/client.js';

beforeAll(() => {
  vi.resetModules();
  vi.doMock(PRIVATE, () => {
    throw new Error('a version of undici without this file');
  });
});
afterAll(() => {
  vi.doUnmock(PRIVATE);
  vi.resetModules();
});

it('undici loads with one warning without its private files', async () => {
  const { UndiciUpstream } = await import('../../src/adapters/undici/undici-upstream.js');
  const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => undefined);
  const platform = await RecordingUpstream.start();
  platform.willAnswer((exchange) => exchange.head(200, { 'content-type': 'application/json' }).end('{}'));
  for (const upstream of [new UndiciUpstream({ connectMs: 5_000 }), new UndiciUpstream({ connectMs: 5_000 })]) {
    const response = responseOf(await upstream.send(upstreamRequest(platform.origin)));
    expect([response.status, await textOf(response.body)]).toEqual([200, '{}']);
    await upstream.close({ graceMs: 0 });
  }
  await platform.close();
  expect(warn.mock.calls.map(([, options]) => options)).toEqual([{ code: 'AGENT_BFF_UNDICI' }]);
});
