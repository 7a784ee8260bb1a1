import express from 'express';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { answerErrors } from '../../examples/site/error-answers.js';
import { createPageRouter } from '../../examples/site/page-router.js';
import { type Demo, startDemo } from '../../examples/start-demo.js';
import { listeningSite } from '../site/frameworks/listening-site.js';
import { runCommandLine } from '../support/command-line.js';
import { NEW, openSite, Person } from '../support/conversation-people.js';
import { DemoVisitor } from '../support/demo-visitor.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { visit } from '../support/visitor.js';

let demo: Demo;
let ada: DemoVisitor;
let visitor: DemoVisitor;

beforeAll(async () => {
  // Cached renders stay fresh for the whole test file.
  demo = await startDemo({ port: 0, wordMs: 0, freshMs: 600_000 });
});
afterAll(() => demo.close());
beforeEach(async () => {
  ada = await new DemoVisitor(demo.url).signIn('ada');
  visitor = new DemoVisitor(demo.url);
});

describe('the demo', () => {
  it.each(['/', '/api/a2a/config', '/api/service/conversations', '/auth/me', '/demo/credential', '/nowhere'])(
    'responds 421 to %s under a host name that is not local',
    async (path) => {
      const before = demo.platform.requestTotal;
      for (const host of ['evil.example', 'localhost.evil.example:3000', '127.0.0.1.evil.example']) {
        expect((await visit(demo.url, { method: 'GET', path, headers: { host } })).status).toBe(421);
      }
      expect(demo.platform.requestTotal).toBe(before);
    },
  );

  it('serves requests under every local host name', async () => {
    for (const host of ['localhost', 'LOCALHOST:3000', 'demo.localhost:3000', '127.0.0.1:3000', '[::1]:3000']) {
      expect((await visit(demo.url, { method: 'GET', path: '/auth/me', headers: { host } })).status).toBe(200);
    }
  });
});

describe('the agent of the demo', () => {
  it('serves another site, which knows its own visitors', async () => {
    const site = await openSite(
      { a2aUrl: `${demo.url}/agent` },
      { conversations: 'visitor' },
      { bindings: ['JSONRPC'] },
    );
    onTestFinished(() => site.close());
    const [alice, bob] = [new Person(site.url, NEW), new Person(site.url, NEW)];
    const first = await alice.say('Hello');
    const second = await alice.say('Again', { contextId: first.contextId });
    expect([second.contextId, second.text]).toEqual([first.contextId, expect.stringContaining('“Again”')]);
    expect((await alice.rpc(NEW.get, { id: first.taskId })).text).toContain('“Hello”');
    await bob.say('Hello');
    expect((await bob.say('And now?', { contextId: first.contextId })).text).toContain('CONVERSATION_UNKNOWN');
  });

  it('lets a program name its conversations, and into none of a visitor', async () => {
    const program = (path: string, cookie = '') => {
      const person = new Person(demo.url, NEW, cookie);
      return (body: object) => person.call({ path: `/../..${path}`, body });
    };
    const send = (more: object) => ({
      jsonrpc: '2.0',
      id: 1,
      method: NEW.send,
      params: { message: NEW.message('4711', more) },
    });
    expect((await program('/agent')(send({ contextId: 'mine' }))).text).toContain('"contextId":"mine"');
    expect((await program('/api/a2a')(send({ contextId: 'mine' }))).text).toContain('CONVERSATION_UNKNOWN');
    const { taskId } = await new Person(demo.url, NEW).say('Hello');
    const reading = { jsonrpc: '2.0', id: 1, method: NEW.get, params: { id: taskId } };
    expect((await program('/agent')(reading)).text).not.toContain('Hello');
  });

  it.each(['', '/', '/api/a3a', '/a2a'])('is named by the doctor of a site that has the address "%s"', async (path) => {
    const env = { A2A_URL: `${demo.url}${path}`, SERVICE_AUTH_STRATEGY: 'none' };
    const { printed, status } = await runCommandLine(['doctor'], { env });
    expect(status).toBe(1);
    expect(printed).toContain(`Set "a2aUrl" in configureServer to ${demo.url}/agent, which the card names. (A2A_URL)`);
  });
});

describe('widgets of the demo', () => {
  it('can be rendered by name, and an action by id evicts that render', async () => {
    await visitor.render('by-name/lunch-poll');
    expect((await visitor.render('by-name/lunch-poll')).how).toBe('HIT');
    await visitor.act('poll', 'vote', { choice: 'soup' });
    expect(await visitor.render('by-name/lunch-poll')).toMatchObject({ how: 'MISS', id: 'poll', title: 'Lunch poll' });
  });

  it('reject an invalid action with the reason', async () => {
    const wrong = await visitor.act('poll', 'vote', { choice: 'caviar' });
    expect([wrong.status, await wrong.json()]).toMatchObject([422, { error: { message: 'This is not on the menu.' } }]);
    expect((await visitor.act('poll', 'burn', {})).status).toBe(404);
    expect((await visitor.act('missing', 'vote', {})).status).toBe(404);
  });
});

describe('the data that the demo page reads', () => {
  it('includes project and brand for users and visitors', async () => {
    for (const person of [ada, visitor]) {
      expect(await person.read('GET', '/api/a2a/config')).toMatchObject({
        serviceProjectId: 'demo-project',
        brandCss: expect.stringContaining('--agent-accent:'),
        a2aEndpoint: '/api/a2a',
        supportsStreaming: true,
        warnings: [],
      });
    }
  });

  it('contains no token and no platform address', async () => {
    const paths = ['/auth/me', '/api/a2a/config', '/demo/hits', '/api/service/conversations', '/demo/credential'];
    const texts = await Promise.all(paths.map(async (path) => (await ada.send('GET', path)).text()));
    expect(texts.join('\n')).not.toMatch(/eyJ|PRIVATE KEY/);
    expect(texts.join('\n')).not.toContain(new URL(demo.platform.url).host);
  });
});

describe('an error of the demo itself', () => {
  it.each([
    ['a bug of the site', () => brokenSite(), 500, /^site: Error: the disk is full/],
    [
      'a callback that nobody asked for',
      () => `${demo.url}/auth/callback`,
      400,
      /^sign-in: There is no pending sign-in/,
    ],
    [
      'an old link to the sign-in',
      () => `${demo.login.issuer}/interaction/old`,
      400,
      /^sign-in provider: invalid_request/,
    ],
  ])('reaches the terminal, but not the page: %s', async (_case, address, status, line) => {
    const terminal = vi.spyOn(console, 'error').mockReturnValue();
    onTestFinished(() => terminal.mockRestore());
    const response = await fetch(await address());
    const lines = terminal.mock.calls.map((parts) => parts.map(String).join(' '));
    expect([response.status, lines]).toEqual([status, [expect.stringMatching(line)]]);
    expect(await response.text()).not.toMatch(/disk|pending|invalid_request/);
  });

  async function brokenSite(): Promise<string> {
    const app = express().get('/', () => {
      throw new Error('the disk is full');
    });
    const site = await listeningSite(app.use(answerErrors));
    onTestFinished(() => site.close());
    return site.url;
  }
});

describe('the demo page', () => {
  it('names the build command when it is missing, and does not replace a 404 of the routes', async () => {
    const site = await listeningSite(express().use(createPageRouter(temporaryFolder('page'))));
    onTestFinished(() => site.close());
    for (const path of ['/', '/some/view']) {
      const answer = await fetch(site.url + path);
      expect([answer.status, await answer.text()]).toEqual([503, expect.stringContaining('"npm start" builds it')]);
    }
    for (const path of ['/api/missing', '/auth/missing', '/demo/missing', '/people/nobody.svg']) {
      expect((await fetch(site.url + path)).status).toBe(404);
    }
  });
});
