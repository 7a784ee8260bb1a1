import { describe, expect, it } from 'vitest';
import { WatchedBody } from './chat-world.js';
import { HttpJsonWorld } from './http-json-world.js';

const ERROR = '{"error":{"code":501,"message":"No such task"}}';

describe('an agent that fails in the HTTP+JSON binding', () => {
  it.each([500, 501, 599])("with its binding's own error (%i) is quoted", async (status) => {
    const headers = { 'content-type': 'application/json', 'set-cookie': 'a=b' };
    const response = await new HttpJsonWorld().answered({ status, headers, body: new WatchedBody(ERROR) });
    expect(response).toMatchObject({ status, body: ERROR });
    expect(response.headers['set-cookie']).toBeUndefined();
  });

  it.each([
    ['a web page', '<h1>nginx</h1>'],
    ['an error that is a word', '{"error":"no"}'],
    ['an error that is nothing', '{"error":null}'],
    ['some other JSON', '{"message":"no"}'],
    ['JSON that is nothing', 'null'],
    ['nothing', ''],
    ['more than 1 MiB', JSON.stringify({ error: { message: 'x'.repeat(1_048_576) } })],
  ])('with %s keeps its status and loses its body', async (_what, text) => {
    await expect(
      new HttpJsonWorld().answered({ status: 503, headers: {}, body: new WatchedBody(text) }),
    ).rejects.toMatchObject({
      code: 'upstream_error',
      upstreamStatus: 503,
      detail: 'The agent reported an error of its own.',
    });
  });

  it('with an error it compressed is not read', async () => {
    const body = new WatchedBody(ERROR);
    await expect(
      new HttpJsonWorld().answered({ status: 500, headers: { 'content-encoding': 'gzip' }, body }),
    ).rejects.toMatchObject({ code: 'upstream_error', upstreamStatus: 500 });
    expect(body.ended).toBe(true);
  });

  it('below 500 is quoted, whatever it says', async () => {
    const body = new WatchedBody('<h1>no</h1>');
    expect((await new HttpJsonWorld().answered({ status: 499, headers: {}, body })).body).toBe(body);
  });

  it('by a redirect is not followed', async () => {
    const answer = new HttpJsonWorld().answered({
      status: 307,
      headers: { location: 'https://evil.example' },
      body: null,
    });
    await expect(answer).rejects.toMatchObject({ code: 'upstream_redirect', fields: ['a2aUrl'] });
  });
});
