import { createToolkit } from 'agent-bff';
import { createNodeHandler } from 'agent-bff/node';
import { RecordingTelemetry } from 'agent-bff/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { HttpResponse } from '../../src/ports/http.js';
import { listeningSite } from '../site/frameworks/listening-site.js';
import { FIELD_ROUTES, type RawHead, readHead } from '../support/raw-head.js';

type Sent = Partial<Pick<HttpResponse, 'status' | 'headers'>>;

/** A site that forwards fields of its own, and a platform with a given response. */
async function startSite(response: readonly string[]) {
  let next: Sent = {};
  const telemetry = new RecordingTelemetry();
  const toolkit = createToolkit(
    { serviceApiUrl: 'https://platform.example/', serviceApiKey: 'the-api-key' },
    {
      telemetry,
      upstream: {
        send: () => Promise.resolve({ kind: 'response', response: { status: 200, headers: {}, ...next, body: '{}' } }),
        close: () => Promise.resolve(),
      },
    },
  );
  const auth = () => ({ kind: 'token', accessToken: 'token-of-ada', subject: 'ada' }) as const;
  const handler = createNodeHandler({ toolkit, service: { auth, forward: { response } } });
  const site = await listeningSite((request, reply) => {
    handler(request, reply);
  });
  onTestFinished(async () => {
    await site.close();
    await toolkit.close();
  });
  const get = async (sent: Sent): Promise<RawHead> => {
    next = { ...sent, headers: { 'content-type': 'application/json', ...sent.headers } };
    return readHead(site.url, FIELD_ROUTES.records);
  };
  return { telemetry, get };
}

describe('a response field in the option "forward"', () => {
  it('is forwarded as printable ASCII; otherwise its name is logged once', async () => {
    const { get, telemetry } = await startSite(['x-one', 'x-two', 'x-three']);
    const headers = { 'x-one': ['a\tb', 'c'], 'x-two': 'caf\xc3\xa9', 'x-three': 'a\r\nset-cookie: secret-value=1' };
    for (let request = 0; request < 3; request += 1) {
      const head = await get({ headers });
      expect(['x-one', 'x-two', 'x-three', 'set-cookie'].map((name) => head.values(name))).toEqual([
        ['a b, c'],
        [],
        [],
        [],
      ]);
    }
    const [warning, ...others] = telemetry.of('warning');
    expect(warning).toMatchObject({
      code: 'field_left_out',
      detail: expect.stringMatching(/x-two .*x-three /) as string,
    });
    expect(others).toEqual([]);
    expect(JSON.stringify(telemetry.events)).not.toContain('secret-value');
  });
});
