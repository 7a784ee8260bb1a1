import { createHash } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Demo, startDemo } from '../../examples/start-demo.js';
import { DemoVisitor } from '../support/demo-visitor.js';
import { visit } from '../support/visitor.js';

let demo: Demo;
let ada: DemoVisitor;
let grace: DemoVisitor;
let visitor: DemoVisitor;

beforeAll(async () => {
  // Renders stay fresh for the whole file.
  demo = await startDemo({ port: 0, wordMs: 0, freshMs: 600_000 });
});
afterAll(() => demo.close());
beforeEach(async () => {
  ada = await new DemoVisitor(demo.url).signIn('ada');
  grace = await new DemoVisitor(demo.url).signIn('grace');
  visitor = new DemoVisitor(demo.url);
});

interface Conversations {
  readonly conversations: readonly { readonly id: string; readonly title: string; readonly updatedAt: string }[];
}

const idsOf = async (person: DemoVisitor): Promise<readonly string[]> =>
  (await person.read<Conversations>('GET', '/api/service/conversations')).conversations.map(({ id }) => id);

describe('conversations of the demo', () => {
  it('are recorded under the user who had them, newest first, and nobody else sees them', async () => {
    const first = await ada.chat({ text: 'Good morning' });
    const second = await ada.chat({ text: 'Good evening' });
    const hers = await grace.chat({ text: 'Good night' });
    const anonymous = await visitor.chat({ text: 'Hello' });
    expect(await idsOf(ada)).toEqual([second.conversation, first.conversation]);
    expect(await idsOf(grace)).toEqual([hers.conversation]);
    expect(await ada.read('GET', `/api/service/conversations/${first.conversation}`)).toEqual({
      id: first.conversation,
      title: 'Good morning',
      messages: [
        { role: 'user', text: 'Good morning', at: expect.any(String) },
        { role: 'agent', text: first.words, at: expect.any(String) },
      ],
    });
    for (const { conversation } of [first, anonymous]) {
      expect((await grace.send('GET', `/api/service/conversations/${conversation}`)).status).toBe(404);
      expect((await grace.send('DELETE', `/api/service/conversations/${conversation}`)).status).toBe(404);
    }
  });

  it('are gone when their user deletes them', async () => {
    const { conversation } = await ada.chat({ text: 'Forget this' });
    expect((await ada.send('DELETE', `/api/service/conversations/${conversation}`)).status).toBe(204);
    expect((await ada.send('GET', `/api/service/conversations/${conversation}`)).status).toBe(404);
    expect(await idsOf(ada)).not.toContain(conversation);
  });

  it('cost the platform nothing when nobody is signed in', async () => {
    const before = demo.platform.requestTotal;
    const answer = await visitor.send('GET', '/api/service/conversations');
    expect([answer.status, await answer.json()]).toEqual([401, expect.objectContaining({ code: 'session_required' })]);
    expect(demo.platform.requestTotal).toBe(before);
  });
});

describe('the demo', () => {
  it.each(['/', '/api/a2a/config', '/api/service/conversations', '/auth/me', '/demo/credential', '/nowhere'])(
    'refuses %s to a page whose name leads to this machine',
    async (path) => {
      const before = demo.platform.requestTotal;
      for (const host of ['evil.example', 'localhost.evil.example:3000', '127.0.0.1.evil.example']) {
        expect((await visit(demo.url, { method: 'GET', path, headers: { host } })).status).toBe(421);
      }
      expect(demo.platform.requestTotal).toBe(before);
    },
  );

  it('is shown by every name of this machine', async () => {
    for (const host of ['localhost', 'LOCALHOST:3000', 'demo.localhost:3000', '127.0.0.1:3000', '[::1]:3000']) {
      expect((await visit(demo.url, { method: 'GET', path: '/auth/me', headers: { host } })).status).toBe(200);
    }
  });
});

describe('the agent of the demo', () => {
  it('names a file, counts its bytes and gives its SHA-256', async () => {
    const bytes = Buffer.from('lunch at noon');
    const raw = bytes.toString('base64');
    const { words } = await ada.chat({ raw, filename: 'note.txt', mediaType: 'text/plain' });
    expect(words).toContain('note.txt: 13 bytes');
    expect(words).toContain(createHash('sha256').update(bytes).digest('hex'));
  });

  it('answers in Markdown when it is asked to', async () => {
    const { words } = await visitor.chat({ text: 'markdown' });
    expect(words).toMatch(/^1\. .+\n2\. a \[link.+\]\(https:.+\)\n3\. .+\n\n```js\n[^`]+```$/m);
  });
});

describe('widgets of the demo', () => {
  it('are rendered once while they are fresh, and again after an action', async () => {
    const rendered = await visitor.render('poll');
    const before = demo.platform.requestTotal;
    expect(await visitor.render('poll')).toEqual({ ...rendered, how: 'HIT' });
    expect(demo.platform.requestTotal).toBe(before);

    const answer = await visitor.act('poll', 'vote', { choice: 'pizza' });
    expect([answer.status, await answer.json()]).toEqual([200, expect.objectContaining({ message: 'Thank you.' })]);
    const after = await visitor.render('poll');
    expect([after.how, after.version]).toEqual(['MISS', rendered.version + 1]);
    expect(after.html).toContain('<span>Pizza</span> <span class="votes">1</span>');
  });

  it('are the same by name, where an action by id counts as well', async () => {
    await visitor.render('by-name/lunch-poll');
    expect((await visitor.render('by-name/lunch-poll')).how).toBe('HIT');
    await visitor.act('poll', 'vote', { choice: 'soup' });
    expect(await visitor.render('by-name/lunch-poll')).toMatchObject({ how: 'MISS', id: 'poll', title: 'Lunch poll' });
  });

  it('stay as they are while they are fresh, though an editor changes them', async () => {
    const { html } = await visitor.render('poll');
    expect((await visitor.send('POST', '/demo/widgets/poll/question', { text: 'Cake?' })).status).toBe(204);
    expect(await visitor.render('poll')).toMatchObject({ how: 'HIT', html });
    expect((await ada.render('poll')).html).toContain('<h3>Cake?</h3>');
    expect((await visitor.send('POST', '/demo/widgets/poll/question', { text: ' ' })).status).toBe(400);
  });

  it('keep the notes of each user from everybody else, in the cache too', async () => {
    for (const person of [ada, grace, visitor]) await person.render('notes');
    await ada.act('notes', 'add', { text: 'for <Ada>' });
    await grace.act('by-name/my-notes', 'add', { text: 'for Grace' });
    await visitor.act('notes', 'add', { text: 'for all visitors' });

    const another = await new DemoVisitor(demo.url).signIn('ada');
    for (const round of ['first', 'again']) {
      const [hers, hersElsewhere] = [await ada.render('notes'), await another.render('notes')];
      expect([round, hers.html]).toEqual([round, hersElsewhere.html]);
      expect(hers.html).toContain('<li>for &lt;Ada&gt;</li>');
      expect(hers.html).not.toMatch(/Grace|visitors/);
      expect((await grace.render('notes')).html).toMatch(/<ul><li>for Grace<\/li><\/ul>/);
      expect((await visitor.render('notes')).html).toContain('<ul><li>for all visitors</li></ul>');
      expect((await new DemoVisitor(demo.url).render('notes')).html).toContain('for all visitors');
    }
  });

  it('say why they refuse an action', async () => {
    const wrong = await visitor.act('poll', 'vote', { choice: 'caviar' });
    expect([wrong.status, await wrong.json()]).toMatchObject([422, { error: { message: 'This is not on the menu.' } }]);
    expect((await visitor.act('poll', 'burn', {})).status).toBe(404);
    expect((await visitor.act('missing', 'vote', {})).status).toBe(404);
  });

  it.each(['poll', 'by-name/lunch-poll', 'notes', 'by-name/my-notes'])('have a theme: %s', async (widget) => {
    const theme = await visitor.send('GET', `/api/service-surfaces/${widget}/theme.css`);
    expect([theme.status, theme.headers.get('content-type')]).toEqual([200, 'text/css; charset=utf-8']);
    expect(await theme.text()).toContain(':host { --accent: #');
  });
});

describe('what the page of the demo reads', () => {
  it('is project and brand, for users as for visitors', async () => {
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

  it('is what reached the platform, the latest first', async () => {
    await ada.chat({ text: 'Hello' });
    await ada.send('GET', '/api/service/conversations?page=1');
    const { hits, total } = await visitor.read<{ hits: unknown[]; total: number }>('GET', '/demo/hits');
    expect(hits.slice(0, 2)).toEqual([
      { method: 'GET', path: '/api/conversations', count: expect.any(Number) },
      { method: 'POST', path: '/a2a', count: expect.any(Number) },
    ]);
    expect(total).toBe(demo.platform.requestTotal);
  });

  it('carries no token and no address of the platform', async () => {
    const paths = ['/auth/me', '/api/a2a/config', '/demo/hits', '/api/service/conversations', '/demo/credential'];
    const texts = await Promise.all(paths.map(async (path) => (await ada.send('GET', path)).text()));
    expect(texts.join('\n')).not.toMatch(/eyJ|PRIVATE KEY/);
    expect(texts.join('\n')).not.toContain(new URL(demo.platform.url).host);
  });
});
