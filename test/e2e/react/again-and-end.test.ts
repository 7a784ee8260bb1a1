import { describe, expect, it } from 'vitest';

import { type ComponentVisit, describeInBrowsers } from '../../support/component-browser.js';

const CHAT = '**/api/a2a';

/** The messages that the page has sent. */
function sentBy({ page }: ComponentVisit): { messageId: string; contextId?: string; parts: { text?: string }[] }[] {
  const sent: ReturnType<typeof sentBy> = [];
  page.on('request', (request) => {
    const body =
      request.method() === 'POST' ? (request.postDataJSON() as { params?: { message?: (typeof sent)[0] } }) : {};
    if (body.params?.message) sent.push(body.params.message);
  });
  return sent;
}

describeInBrowsers('the last answer', { wordMs: 5, slowStepMs: 60 }, (browser) => {
  describe('that failed or was stopped', () => {
    it('can be retried: a failed task is a new message, in place of the failed one', async () => {
      const visit = await browser.visit();
      const sent = sentBy(visit);
      await visit.show('A2AChat');
      await visit.ask('Hello');
      await visit.ask('fail');
      await visit.agentMessage.filter({ hasText: 'The agent could not finish this.' }).waitFor();
      expect(await visit.axe()).toEqual([]);
      await visit.page.getByRole('button', { name: 'Retry' }).click();
      await expect.poll(() => sent.length).toBe(3);
      await visit.page.getByRole('button', { name: 'Retry' }).waitFor();
      const [hello, first, second] = sent;
      expect(second?.parts).toEqual(first?.parts);
      expect(second?.messageId).not.toBe(first?.messageId);
      expect(second?.contextId).toBe(first?.contextId);
      expect(hello?.messageId).not.toBe(first?.messageId);
      expect(await visit.page.locator('.a2a-message-user p').allInnerTexts()).toEqual(['Hello', 'fail']);
      expect(await visit.page.locator('.a2a-message-agent').count()).toBe(2);
      expect(await visit.ask('Something else')).toContain('Something else');
      expect(await visit.page.getByRole('button', { name: 'Retry' }).count()).toBe(0);
    });

    it('can be retried after it was stopped, also after a reload with keepOnReload', async () => {
      const visit = await browser.visit();
      await visit.show('A2AChat', { keepOnReload: true });
      await visit.send('slow');
      await visit.agentMessage.filter({ hasText: '3' }).waitFor();
      await visit.page.getByRole('button', { name: 'Stop' }).click();
      await visit.agentMessage.filter({ hasText: 'Stopped.' }).waitFor();
      await visit.page.getByRole('button', { name: 'Retry' }).waitFor();
      await visit.reload();
      await visit.show('A2AChat', { keepOnReload: true });
      await visit.page.getByRole('button', { name: 'Retry' }).click();
      await visit.finished.filter({ hasText: '9' }).waitFor();
      expect(await visit.page.locator('.a2a-message').count()).toBe(2);
      expect(await visit.page.getByRole('button', { name: 'Retry' }).count()).toBe(0);
    });

    it('is retried with its file, which a reload forgets', async () => {
      const visit = await browser.visit();
      const sent = sentBy(visit);
      await visit.page.route(CHAT, (route) => {
        const task = { id: 'task', contextId: 'context', status: { state: 'TASK_STATE_FAILED' } };
        const body = `data: ${JSON.stringify({ jsonrpc: '2.0', id: 1, result: { task } })}\n\n`;
        return route.fulfill({ contentType: 'text/event-stream', body });
      });
      await visit.show('A2AChat', { keepOnReload: true });
      const file = { name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from('Notes') };
      await visit.page.locator('input[type=file]').setInputFiles(file);
      await visit.send('Read this');
      await visit.page.getByRole('button', { name: 'Retry' }).click();
      await expect.poll(() => sent.length).toBe(2);
      expect(sent[1]?.parts).toEqual(sent[0]?.parts);
      expect(sent[1]?.parts).toHaveLength(2);
      await visit.page.getByRole('button', { name: 'Retry' }).waitFor();
      await visit.reload();
      await visit.show('A2AChat', { keepOnReload: true });
      await visit.agentMessage.filter({ hasText: 'could not finish' }).waitFor();
      await visit.page.getByRole('heading', { name: 'Demo agent' }).waitFor();
      expect(await visit.page.getByRole('button', { name: 'Retry' }).count()).toBe(0);
    });
  });

  describe('below what the visitor reads', () => {
    it('is one click away, with a mark once there is new text', async () => {
      const visit = await browser.visit({ viewport: { width: 600, height: 400 } });
      await visit.show('A2AChat');
      for (const text of ['markdown', 'markdown']) await visit.ask(text);
      const log = visit.page.getByRole('log');
      const toEnd = visit.page.getByRole('button', { name: 'Go to the end' });
      const toNew = visit.page.getByRole('button', { name: 'Go to the new text' });
      expect(await toEnd.count()).toBe(0);
      await log.hover();
      await visit.page.mouse.wheel(0, -300);
      await toEnd.waitFor();
      expect(await visit.axe()).toEqual([]);
      await toEnd.click();
      await expect.poll(() => toEnd.count()).toBe(0);
      expect(await log.evaluate((list) => list.scrollHeight - list.scrollTop - list.clientHeight)).toBeLessThanOrEqual(
        1,
      );
      expect(await visit.page.evaluate(() => document.activeElement?.getAttribute('role'))).toBe('log');
      await visit.send('slow');
      await visit.agentMessage.filter({ hasText: '1' }).waitFor();
      await log.hover();
      await visit.page.mouse.wheel(0, -300);
      await toNew.waitFor();
      const height = await log.evaluate((list) => list.scrollHeight);
      await toNew.click();
      await expect.poll(() => toNew.count()).toBe(0);
      expect(await log.evaluate((list) => list.scrollHeight)).toBeGreaterThanOrEqual(height);
      await visit.finished.filter({ hasText: '9' }).waitFor();
      expect(await log.evaluate((list) => list.scrollHeight - list.scrollTop - list.clientHeight)).toBeLessThanOrEqual(
        1,
      );
    });
  });

  describe('as a whole', () => {
    it('is copied as Markdown, and says so', async () => {
      const visit = await browser.visit();
      await visit.show('A2AChat');
      await visit.ask('markdown');
      const copy = visit.finished.getByRole('button', { name: 'Copy answer' });
      await copy.click();
      await visit.finished.locator('.a2a-copy-answer').filter({ hasText: 'Copied' }).waitFor();
      const text = await visit.page.evaluate(() => navigator.clipboard.readText());
      expect(text).toContain('```');
      expect(text).toContain('**');
      expect(await visit.axe()).toEqual([]);
      await copy.waitFor();
    });

    it('says that copying is not allowed, as in a frame without permission', async () => {
      const visit = await browser.visit();
      await visit.page.evaluate(() => {
        navigator.clipboard.writeText = () => Promise.reject(new DOMException('No', 'NotAllowedError'));
      });
      await visit.show('A2AChat');
      await visit.ask('Hello');
      await visit.finished.getByRole('button', { name: 'Copy answer' }).click();
      await visit.finished.getByRole('button', { name: 'Copying is not allowed here' }).waitFor();
    });

    it('has no button while it grows', async () => {
      const visit = await browser.visit();
      await visit.page.route(CHAT, (route) => route.continue());
      await visit.show('A2AChat');
      await visit.send('slow');
      await visit.agentMessage.filter({ hasText: '2' }).waitFor();
      expect(await visit.page.getByRole('button', { name: 'Copy answer' }).count()).toBe(0);
    });
  });
});
