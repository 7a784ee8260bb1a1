import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import express from 'express';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { createPageRouter } from '../../examples/site/page-router.js';
import { type Demo, startDemo } from '../../examples/start-demo.js';
import { listeningSite } from '../site/frameworks/listening-site.js';
import { DemoVisitor } from '../support/demo-visitor.js';

let demo: Demo;

beforeAll(async () => {
  // No render is ever fresh. The site uses an access token until five seconds before its end: for two seconds here.
  demo = await startDemo({ port: 0, wordMs: 0, freshMs: 0, accessTokenSeconds: 7 });
});
afterAll(() => demo.close());

describe('a widget of the demo that is no longer fresh', () => {
  it('is asked about, and rendered again when an editor has changed it', async () => {
    const visitor = new DemoVisitor(demo.url);
    const rendersOfPoll = (): number =>
      demo.platform.requests.filter(({ path }) => path === '/api/surfaces/poll/render').length;
    const first = await visitor.render('poll');
    expect(await visitor.render('poll')).toEqual({ ...first, how: 'REVALIDATED' });
    expect(rendersOfPoll()).toBe(1);

    await visitor.send('POST', '/demo/widgets/poll/question', { text: 'Tea & cake?' });
    const changed = await visitor.render('poll');
    expect([changed.how, changed.version, rendersOfPoll()]).toEqual(['MISS', first.version + 1, 2]);
    expect(changed.html).toContain('<h3>Tea &amp; cake?</h3>');
  });
});

describe('an access token of the demo that has expired', () => {
  it('is refreshed once for all requests that come together, time and again', async () => {
    const ada = await new DemoVisitor(demo.url).signIn('ada');
    const rounds: { statuses: number[]; refreshes: number }[] = [];
    const askSixTimes = async (): Promise<number> => {
      const before = demo.login.refreshes;
      const requests = Array.from({ length: 6 }, () => ada.send('GET', '/api/service/conversations'));
      const statuses = (await Promise.all(requests)).map(({ status }) => status);
      rounds.push({ statuses, refreshes: demo.login.refreshes - before });
      return demo.login.refreshes;
    };
    await expect.poll(askSixTimes, { timeout: 15_000 }).toBeGreaterThanOrEqual(2);
    expect(new Set(rounds.flatMap(({ statuses }) => statuses))).toEqual(new Set([200]));
    expect(Math.max(...rounds.map(({ refreshes }) => refreshes))).toBe(1);
    expect(await ada.name()).toBe('Ada Lovelace');
  }, 20_000);
});

describe('a long answer of the demo that began with a refresh', () => {
  it('leaves the new refresh token to the requests after it, while it is still being written', async () => {
    const ada = await new DemoVisitor(demo.url).signIn('ada');
    const before = demo.login.refreshes;
    const streams: Response[] = [];
    const startStream = async (): Promise<number> => {
      await Promise.all(streams.splice(0).map(async (stream) => stream.body?.cancel()));
      streams.push(await ada.startSlowAnswer());
      return demo.login.refreshes - before;
    };
    await expect.poll(startStream, { timeout: 10_000 }).toBe(1);
    const statuses: number[] = [];
    const ask = async (): Promise<number> => {
      statuses.push((await ada.send('GET', '/api/service/conversations')).status);
      return demo.login.refreshes - before;
    };
    await expect.poll(ask, { timeout: 10_000 }).toBe(2);
    expect(new Set(statuses)).toEqual(new Set([200]));
    expect(demo.platform.openStreams).toBe(1);
    await streams[0]?.body?.cancel();
  }, 30_000);
});

describe('the page of the demo', () => {
  it('says how to build it where it is not built, and leaves the addresses of the site alone', async () => {
    const empty = await mkdtemp(join(tmpdir(), 'agent-bff-page-'));
    const app = express();
    app.use(createPageRouter(empty));
    const site = await listeningSite(app);
    onTestFinished(async () => {
      await site.close();
      await rm(empty, { recursive: true });
    });
    for (const path of ['/', '/some/view']) {
      const answer = await fetch(site.url + path);
      expect([answer.status, await answer.text()]).toEqual([503, expect.stringContaining('"npm start" builds it')]);
    }
    for (const path of ['/api/missing', '/auth/missing', '/demo/missing', '/people/nobody.svg']) {
      expect((await fetch(site.url + path)).status).toBe(404);
    }
  });
});
