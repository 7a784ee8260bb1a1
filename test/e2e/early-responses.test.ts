import { createToolkit } from 'agent-bff';
import { createNodeHandler } from 'agent-bff/node';
import { describe, expect, it, onTestFinished } from 'vitest';
import { listeningSite } from '../site/frameworks/listening-site.js';
import { uploadingClients } from '../support/uploading-clients/uploading-clients.js';

const UPLOADS = 40;
const MIB = 1_048_576;

describe('a client that is still sending its body when the response arrives', () => {
  for (const { name, installed, upload } of uploadingClients) {
    it.skipIf(!installed)(
      `${name} sees a 413, ${String(UPLOADS)} times of ${String(UPLOADS)}`,
      { timeout: 60_000 },
      async () => {
        const toolkit = createToolkit({ a2aUrl: 'http://127.0.0.1:9/', serviceApiKey: 'key', bodyLimitBytes: MIB });
        const site = await listeningSite(createNodeHandler({ toolkit }));
        onTestFinished(async () => {
          await site.close();
          await toolkit.close();
        });
        const statuses = await upload(`${site.url}/api/a2a`, 16 * MIB, UPLOADS);
        expect(statuses).toEqual(Array.from({ length: UPLOADS }, () => '413'));
      },
    );
  }
});
