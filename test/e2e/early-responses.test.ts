import { createToolkit } from 'agent-bff';
import { createNodeHandler } from 'agent-bff/node';
import { describe, expect, it, onTestFinished } from 'vitest';
import { listeningSite } from '../site/frameworks/listening-site.js';
import { NGINX, nginxInFrontOf } from '../support/nginx.js';
import { uploadingClients } from '../support/uploading-clients/uploading-clients.js';

const UPLOADS = 20;
const MIB = 1_048_576;
const REFUSALS = [
  ['413', '/api/a2a'],
  ['401', '/api/service/files/7'],
] as const;

/** A site that refuses the body of a chat message of more than a megabyte, and a record without a session. */
async function startSite(): Promise<string> {
  const toolkit = createToolkit({
    a2aUrl: 'http://127.0.0.1:9/',
    serviceApiUrl: 'http://127.0.0.1:9/api',
    serviceApiKey: 'key',
    bodyLimitBytes: MIB,
  });
  const site = await listeningSite(createNodeHandler({ toolkit, service: { auth: () => null } }));
  onTestFinished(async () => {
    await site.close();
    await toolkit.close();
  });
  return site.url;
}

describe('a client that is still sending its body when the response arrives', () => {
  for (const { name, installed, upload } of uploadingClients) {
    it.skipIf(!installed).each(REFUSALS)(
      `${name} sees a %s, ${String(UPLOADS)} times of ${String(UPLOADS)}`,
      { timeout: 60_000 },
      async (status, path) => {
        const statuses = await upload((await startSite()) + path, 20 * MIB, UPLOADS);
        expect(statuses).toEqual(Array.from({ length: UPLOADS }, () => status));
      },
    );
  }

  for (const directive of ['', 'proxy_request_buffering off;']) {
    it.skipIf(NGINX === undefined).each(REFUSALS)(
      `behind nginx (${directive || 'its defaults'}) sees a %s, ${String(UPLOADS)} times of ${String(UPLOADS)}`,
      { timeout: 60_000 },
      async (status, path) => {
        const site = await nginxInFrontOf(await startSite(), `client_max_body_size 32m; ${directive}`);
        const [client] = uploadingClients;
        const statuses = await client?.upload(site + path, 20 * MIB, UPLOADS);
        expect(statuses).toEqual(Array.from({ length: UPLOADS }, () => status));
      },
    );
  }
});
