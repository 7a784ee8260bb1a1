import type { Page } from 'playwright-core';
import { expect, it, onTestFinished } from 'vitest';

import { BreakableProxy } from '../../support/breakable-proxy.js';
import { describeDemo, type DemoVisit } from '../../support/demo-browser.js';

const COUNTED = `Counting slowly to 120: ${Array.from({ length: 120 }, (_, index) => index + 1).join(' ')}`;

describeDemo('an answer that is interrupted', { slowStepMs: 60 }, (demo) => {
  /** A visitor whose connection to the site can be cut. */
  async function visitThroughProxy(): Promise<{ visit: DemoVisit; proxy: BreakableProxy; calls: string[] }> {
    const proxy = await BreakableProxy.start(demo.demo.url);
    onTestFinished(() => proxy.close());
    const visit = await demo.visit({ origin: proxy.origin, prepare: keepStreams });
    return { visit, proxy, calls: heardCalls(visit) };
  }

  it('resumes after the connection breaks, with nothing missing or repeated', async () => {
    const { visit, proxy, calls } = await visitThroughProxy();
    await visit.send('slow');
    await visit.answer.filter({ hasText: ' 3 4' }).waitFor();
    proxy.cut();
    await visit.page.getByRole('status').filter({ hasText: 'Reconnecting…' }).waitFor();
    expect(await visit.answer.innerText()).not.toContain('119');
    proxy.repair();

    expect(await visit.wholeAnswer()).toBe(COUNTED);
    expect(calls[0]).toBe('SendStreamingMessage');
    expect(calls.slice(1)).toContain('SubscribeToTask');
    expect(calls).not.toContain('CancelTask');
    expect(await visit.page.getByRole('status').filter({ hasText: 'Reconnecting…' }).count()).toBe(0);
  });

  it('is fetched when the agent has finished it meanwhile', async () => {
    const { visit, proxy, calls } = await visitThroughProxy();
    await visit.send('Hello');
    await visit.answer.filter({ hasText: 'You said' }).waitFor();
    const { taskId } = await runningTask(visit);
    proxy.cut();
    await expect.poll(() => taskState(taskId), { timeout: 20_000 }).toBe('TASK_STATE_COMPLETED');
    proxy.repair();

    expect(await visit.wholeAnswer()).toContain('to your browser.');
    expect(calls).toContain('GetTask');
  });

  it('can be resumed by hand when the connection does not come back', async () => {
    const { visit, proxy } = await visitThroughProxy();
    await visit.page.clock.install();
    await visit.send('slow');
    await visit.answer.filter({ hasText: ' 3 4' }).waitFor();
    proxy.cut();
    await visit.page.getByRole('status').filter({ hasText: 'Reconnecting…' }).waitFor();
    // Long enough for all pauses between the attempts.
    for (const seconds of [1, 2, 4, 8, 16]) await visit.page.clock.runFor(seconds * 1000);
    await visit.page.clock.resume();
    await visit.alert.filter({ hasText: 'The connection to the site was lost' }).waitFor();

    proxy.repair();
    await visit.page.getByRole('button', { name: 'Retry' }).click();
    expect(await visit.wholeAnswer()).toBe(COUNTED);
    expect(await visit.alert.count()).toBe(0);
  });

  it('is cancelled at the agent when the visitor presses Stop', async () => {
    const visit = await demo.visit({ prepare: keepStreams });
    const calls = heardCalls(visit);
    await visit.send('slow');
    await visit.answer.filter({ hasText: 'Counting' }).waitFor();
    const { taskId } = await runningTask(visit);
    await visit.page.getByRole('button', { name: 'Stop' }).click();

    await visit.answer.filter({ hasText: 'Stopped.' }).waitFor();
    expect(await taskState(taskId)).toBe('TASK_STATE_CANCELED');
    expect(calls).toEqual(['SendStreamingMessage', 'CancelTask']);
    await expect.poll(() => demo.demo.platform.openStreams).toBe(0);
    expect(await visit.alert.count()).toBe(0);
    expect(await visit.input.evaluate((element) => element.matches(':focus'))).toBe(true);
  });

  it('continues at the agent when the visitor closes the page', async () => {
    const visit = await demo.visit({ prepare: keepStreams });
    await visit.send('slow');
    await visit.answer.filter({ hasText: 'Counting' }).waitFor();
    const { taskId } = await runningTask(visit);
    await visit.page.close();

    await expect.poll(() => demo.demo.platform.openStreams).toBe(0);
    expect(await taskState(taskId)).toBe('TASK_STATE_WORKING');
    await expect.poll(() => taskState(taskId), { timeout: 30_000 }).toBe('TASK_STATE_COMPLETED');
  });

  /** The id of the task the page is streaming, taken from the stream. */
  async function runningTask(visit: DemoVisit): Promise<{ taskId: string }> {
    const seen = await visit.page.evaluate('seenOfStreams');
    const [, taskId = ''] = /"task":\{"id":"([^"]+)"/.exec(String(seen)) ?? [];
    expect(taskId).not.toBe('');
    return { taskId };
  }

  async function taskState(id: string): Promise<string> {
    const response = await fetch(`${demo.demo.url}/api/a2a`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'a2a-version': '1.0' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'GetTask', params: { id } }),
    });
    const { result } = (await response.json()) as { result: { status: { state: string } } };
    return result.status.state;
  }
});

/** Makes the page record what its streams have received. */
async function keepStreams(page: Page): Promise<void> {
  await page.addInitScript(() => {
    const kept = Object.assign(globalThis, { seenOfStreams: '' });
    const { fetch } = globalThis;
    globalThis.fetch = async (...request) => {
      const response = await fetch(...request);
      const [body, copy] = response.body?.tee() ?? [null];
      void copy
        ?.pipeThrough(new TextDecoderStream())
        .pipeTo(new WritableStream({ write: (text) => void (kept.seenOfStreams += text) }))
        .catch(() => undefined);
      return new Response(body, response);
    };
  });
}

/** Records the A2A methods that the page calls from now on. */
function heardCalls({ page }: DemoVisit): string[] {
  const calls: string[] = [];
  page.on('request', (request) => {
    if (request.url().endsWith('/api/a2a')) calls.push(String(request.postDataJSON().method));
  });
  return calls;
}
