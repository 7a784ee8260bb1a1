import type { RequestListener } from 'node:http';
import { configureServer } from 'agent-bff';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { listeningSite } from '../site/frameworks/listening-site.js';
import { A_BUILD_MS, buildNextExample, nextIsInstalled, startNextHere } from '../support/next-example.js';
import { RecordingUpstream, refusedOrigin } from '../support/recording-upstream.js';
import { watchTerminal } from '../support/terminal.js';
import { visit } from '../support/visitor.js';

describe.skipIf(!nextIsInstalled)('configuring a Next site', () => {
  let handle: RequestListener;
  let first: RecordingUpstream;

  beforeAll(async () => {
    await buildNextExample();
    first = await RecordingUpstream.start();
    // `instrumentation.ts` reads these when the server starts.
    handle = await startNextHere({ A2A_URL: `${first.origin}/agent`, SERVICE_API_KEY: 'the-api-key' });
  }, A_BUILD_MS);

  it('merges a later configureServer call, even for routes that bundle their own copy of the package', async () => {
    const second = await RecordingUpstream.start();
    const site = await listeningSite(handle);
    onTestFinished(async () => {
      await site.close();
      await first.close();
      await second.close();
    });
    expect((await visit(site.url)).status).toBe(200);
    configureServer({ a2aUrl: `${second.origin}/another-agent` });
    expect((await visit(site.url)).status).toBe(200);
    expect(first.requests.map(({ target }) => target)).toEqual(['/agent']);
    expect(second.requests.map(({ target }) => target)).toEqual(['/another-agent']);
    for (const [request] of [first.requests, second.requests]) {
      expect(request?.fields).toContainEqual(['x-api-key', 'the-api-key']);
    }
  });

  it('prints the fix to the terminal in a production build', async () => {
    const terminal = watchTerminal();
    configureServer({ a2aUrl: `${await refusedOrigin()}/agent`, conversations: 'open' });
    const site = await listeningSite(handle);
    onTestFinished(() => site.close());
    expect((await visit(site.url)).status).toBe(502);
    expect((await visit(site.url)).status).toBe(502);
    const line = expect.stringMatching(
      /^agent-bff: chat: The agent cannot be reached\. .*\(ECONNREFUSED.*; request \S+\)$/,
    );
    expect(terminal).toEqual([line, line]);
  });
});
