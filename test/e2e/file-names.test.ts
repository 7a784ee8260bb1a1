import { createToolkit } from 'agent-bff';
import { createNodeHandler } from 'agent-bff/node';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listeningSite } from '../site/frameworks/listening-site.js';
import type { Site } from '../site/framework.js';
import { findChromium, launchChromium } from '../support/chromium.js';
import { findFirefox, launchFirefox } from '../support/firefox.js';
import { RecordingUpstream } from '../support/recording-upstream.js';

const BROWSERS = [
  { name: 'Chromium', path: findChromium(), launch: launchChromium },
  { name: 'Firefox', path: findFirefox(), launch: (path: string) => launchFirefox(path, 'light') },
] as const;

/** A file name as the platform sends it, in Latin-1 or UTF-8, and as the browser suggests it. Browsers replace characters that file systems reject. */
interface FileName {
  readonly sent: string;
  readonly encoding?: 'latin1';
  readonly saved: string;
  readonly inFirefox?: string;
}

const FILE_NAMES: Readonly<Record<string, FileName>> = {
  'letters of another script': { sent: 'filename="文件.pdf"', saved: '文件.pdf' },
  'a character outside Latin-1': { sent: 'filename="5€.txt"', saved: '5€.txt' },
  'letters in Latin-1': { sent: 'filename="naïve.pdf"', encoding: 'latin1', saved: 'naïve.pdf' },
  'an encoded name': { sent: "filename*=UTF-8''na%C3%AFve%20%E2%82%AC.txt", saved: 'naïve €.txt' },
  'right-to-left letters': { sent: 'filename="שלום עולם.txt"', saved: 'שלום עולם.txt' },
  'an emoji': { sent: 'filename="a😀.png"', saved: 'a😀.png' },
  quotes: { sent: 'filename="say \\"hi\\".txt"', saved: 'say _hi_.txt' },
  'a backslash': { sent: 'filename="a\\\\b.txt"', saved: 'a_b.txt' },
  'a percent sign': { sent: 'filename="50%25.txt"', saved: '50%25.txt', inFirefox: '50_.txt' },
  'semicolons and an apostrophe': { sent: 'filename="it\'s a; b=c, d.txt"', saved: "it's a; b=c, d.txt" },
  'a path and leading dots': { sent: 'filename="../../etc/..report.txt"', saved: '_.._etc_..report.txt' },
  'three hundred letters': {
    sent: `filename="${'文'.repeat(300)}.pdf"`,
    saved: `${'文'.repeat(300)}.pdf`,
    inFirefox: `${'文'.repeat(82)}.pdf`,
  },
};

let upstream: RecordingUpstream;
let toolkit: ReturnType<typeof createToolkit>;
let site: Site;

beforeAll(async () => {
  upstream = await RecordingUpstream.start();
  toolkit = createToolkit({ serviceApiUrl: upstream.origin, serviceApiKey: 'key', telemetry: 'silent' });
  const auth = () => ({ kind: 'token', accessToken: 'token-of-ada', subject: 'ada' }) as const;
  const handler = createNodeHandler({ toolkit, service: { auth } });
  site = await listeningSite((request, response) => {
    handler(request, response, () => response.end('a page'));
  });
});

afterAll(async () => {
  await site.close();
  await toolkit.close();
  await upstream.close();
});

for (const { name, path, launch } of BROWSERS) {
  describe.skipIf(path === undefined)(`a file of the platform, in ${name}`, { timeout: 60_000 }, () => {
    let browser: Browser;

    beforeAll(async () => {
      browser = await launch(path ?? '');
    }, 60_000);
    afterAll(() => browser.close());

    it.each(Object.entries(FILE_NAMES))('is saved under its own name: %s', async (_what, file) => {
      const { sent, encoding = 'utf8', saved, inFirefox = saved } = file;
      upstream.willAnswer((exchange) => {
        const head = `HTTP/1.1 200 OK\r\nContent-Type: application/octet-stream\r\nContent-Length: 2\r\nConnection: close\r\n`;
        exchange.raw(Buffer.from(`${head}Content-Disposition: attachment; ${sent}\r\n\r\nok`, encoding)).fin();
      });
      const page = await browser.newPage({ acceptDownloads: true });
      await page.goto(site.url);
      const coming = page.waitForEvent('download');
      await page.evaluate(() => {
        location.href = '/api/service/files/7';
      });
      const download = await coming;
      expect(download.suggestedFilename()).toBe(name === 'Firefox' ? inFirefox : saved);
      await page.close();
    });
  });
}
