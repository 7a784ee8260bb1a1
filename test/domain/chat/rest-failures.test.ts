import { describe, expect, it } from 'vitest';
import { FakeSessionTokenSource } from '../../../src/adapters/fakes/fakes.js';
import { sessionPlan } from '../credentials/broker-fixture.js';
import { bodyOf } from '../surfaces/surface-world.js';
import { WatchedBody } from './chat-world.js';
import { RestWorld } from './rest-world.js';
import { errorOf } from '../../support/error-of.js';

const JSON_TYPE = { 'content-type': 'application/json' };
const ERROR = '{"error":{"code":501,"message":"No such task"}}';

describe('an HTTP+JSON agent', () => {
  it.each([500, 501, 599])('with a JSON error (%i) has its error forwarded', async (status) => {
    const headers = { 'content-type': 'application/json', 'set-cookie': 'a=b' };
    const response = await new RestWorld().answered({ status, headers, body: new WatchedBody(ERROR) });
    expect([response.status, await bodyOf(response)]).toEqual([status, ERROR]);
    expect(response.headers['set-cookie']).toBeUndefined();
  });

  it.each([
    ['a web page', '<h1>nginx</h1>'],
    ['an error that is a string', '{"error":"no"}'],
    ['an error that is null', '{"error":null}'],
    ['some other JSON', '{"message":"no"}'],
    ['JSON null', 'null'],
    ['an empty body', ''],
    ['more than 64 KiB', JSON.stringify({ error: { message: 'x'.repeat(65_536) } })],
    ['more than 1,000 levels', `{"error":{"details":${'['.repeat(1_000)}${']'.repeat(1_000)}}}`],
  ])('with %s has its status forwarded but not its body', async (_what, text) => {
    await expect(
      new RestWorld().answered({ status: 503, headers: JSON_TYPE, body: new WatchedBody(text) }),
    ).rejects.toMatchObject({
      code: 'upstream_error',
      upstreamStatus: 503,
      detail: 'The agent reported an internal error.',
    });
  });

  it('with a compressed error has its status forwarded but not its body', async () => {
    const body = new WatchedBody(ERROR);
    await expect(
      new RestWorld().answered({ status: 500, headers: { ...JSON_TYPE, 'content-encoding': 'gzip' }, body }),
    ).rejects.toMatchObject({ code: 'upstream_error', upstreamStatus: 500 });
    expect(body.ended).toBe(true);
  });

  it.each(['application/json', 'application/a2a+json', 'application/problem+json; charset=utf-8'])(
    'with an error below 500 has it forwarded when its type is %s',
    async (type) => {
      const body = new WatchedBody('{"title":"No"}');
      const headers = { 'content-type': type, 'content-encoding': 'gzip' };
      expect((await new RestWorld().answered({ status: 499, headers, body })).body).toBe(body);
    },
  );

  it.each<[number, string, string]>([
    [400, 'text/html', '<h1>agent.internal</h1>'],
    [404, 'text/plain', 'no route at agent.internal'],
    [429, '', ''],
    [500, 'text/plain', ERROR],
    [503, 'text/plain', ERROR],
  ])('with %i and %j has its status forwarded but not its body', async (status, type, body) => {
    const headers = type === '' ? {} : { 'content-type': type };
    const answer = new RestWorld().answered({ status, headers, body });
    await expect(answer).rejects.toMatchObject({ code: 'upstream_error', upstreamStatus: status });
    await expect(answer).rejects.not.toThrow(/agent\.internal/);
  });

  it.each([
    [401, 2],
    [403, 1],
  ])("that rejects the site's credential (%i) is reported with the block, without its JSON", async (status, calls) => {
    const world = new RestWorld();
    const error = await errorOf(world.answered({ status, headers: JSON_TYPE, body: ERROR }));
    expect(error).toMatchObject({ code: 'service_token_rejected', block: 'serviceAccount' });
    expect(error.message).not.toContain('No such task');
    expect(error.logDetail()).toBe(`status ${String(status)} from the agent, application/json: ${ERROR}`);
    expect(world.upstream.requests).toHaveLength(calls);
  });

  it.each([401, 403])("that rejects the user's token (%i) has its JSON error forwarded", async (status) => {
    const world = new RestWorld();
    world.upstream.willAnswer(() => ({ status, headers: JSON_TYPE, body: ERROR }));
    const auth = sessionPlan(new FakeSessionTokenSource({ kind: 'token', accessToken: 'ada-token' }));
    expect(await bodyOf(await world.ask('GET', '/tasks/7', { auth }))).toBe(ERROR);
  });

  it.each([
    ['text/html', '<form action="/login">', 'The address of the agent leads to a sign-in page.'],
    ['text/plain', 'OK', 'The response of the agent is not JSON or an event stream.'],
  ])('with a success of type %s is reported as not an agent', async (type, body, detail) => {
    await expect(
      new RestWorld().answered({ status: 200, headers: { 'content-type': type }, body }),
    ).rejects.toMatchObject({
      code: 'upstream_invalid_response',
      detail,
      hint: expect.stringContaining('the address of the HTTP+JSON interface in the agent card'),
      fields: ['a2aUrl'],
    });
  });

  it('may respond without content to a deletion', async () => {
    const world = new RestWorld();
    world.upstream.willAnswer(() => ({ status: 200, headers: {}, body: null }));
    const response = await world.ask('DELETE', '/tasks/7/pushNotificationConfigs/8', { policy: 'all' });
    expect(response.status).toBe(200);
    await expect(world.ask('GET', '/tasks/7')).rejects.toMatchObject({ code: 'upstream_invalid_response' });
    world.upstream.willAnswer(() => ({ status: 200, headers: { 'content-type': 'text/html' }, body: null }));
    const page = world.ask('DELETE', '/tasks/7/pushNotificationConfigs/8', { policy: 'all' });
    await expect(page).rejects.toMatchObject({ code: 'upstream_invalid_response' });
  });

  it.each([undefined, 'application/json'])('with a redirect of type %s is not followed', async (type) => {
    const headers = { location: 'https://evil.example', ...(type === undefined ? {} : { 'content-type': type }) };
    const answer = new RestWorld().answered({ status: 307, headers, body: null });
    await expect(answer).rejects.toMatchObject({ code: 'upstream_redirect', fields: ['a2aUrl'] });
  });
});
