import { describe, expect, it } from 'vitest';
import { serveRoute } from '../../../src/adapters/web/serve-route.js';
import type { HttpResponse } from '../../../src/ports/http.js';
import { textOf } from '../../contracts/http-upstream.contract.js';
import { browserRequest, site } from './browser-request.js';
import { PushStream } from './push-stream.js';

const settings = site();

function serve(body: PushStream): Promise<HttpResponse> {
  return serveRoute({ site: settings, route: 'surface' }, browserRequest(), () => ({
    status: 200,
    headers: { 'content-type': 'application/json' },
    body,
  }));
}

describe('a body on its way through a route', () => {
  it('is reported once when it breaks, with its request, and not when it ends', async () => {
    const whole = new PushStream();
    whole.end();
    await textOf((await serve(whole)).body);
    expect(settings.telemetry.of('stream_broken')).toEqual([]);
    const body = new PushStream();
    const response = await serve(body);
    body.break(new Error('cut'));
    await textOf(response.body).catch(() => undefined);
    expect(settings.telemetry.of('stream_broken')).toEqual([
      { type: 'stream_broken', requestId: 'req-2', route: 'surface', side: 'upstream', detail: 'cut' },
    ]);
  });

  it('is broken by the site when the server shuts down', async () => {
    const body = new PushStream();
    const response = await serve(body);
    body.break(Object.assign(new Error('the server is shutting down'), { name: 'AbortError' }));
    await textOf(response.body).catch(() => undefined);
    expect(settings.telemetry.of('stream_broken').at(-1)).toMatchObject({ side: 'site' });
  });
});
