import { createToolkit } from 'agent-bff';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { HttpResponse } from '../../../src/ports/http.js';
import { faultsOf, type OddResponse, oddResponses, OWN_VALUE, WIRE_VALUE } from '../../support/odd-fields.js';
import { FIELD_ROUTES, readHead } from '../../support/raw-head.js';
import type { Framework } from '../framework.js';
import { startPlatformWorld, type PlatformWorld } from '../platform-world.js';
import { signedIn } from '../world.js';

/** The number of values the platform sends; `npm run test:fields` sends 100,000. */
const VALUES = Number(process.env['FIELD_VALUES'] ?? 2_000);
const SEED = Number(process.env['FIELD_SEED'] ?? 1);
const A_LONG_RUN = 20_000 + VALUES * 20;

const ROUTES = Object.keys(FIELD_ROUTES) as readonly (keyof typeof FIELD_ROUTES)[];

/** The raw bytes of a response of the platform. */
function willSend({ upstream }: PlatformWorld, fields: string, status = 200): void {
  upstream.willAnswer((exchange) => {
    const head = `HTTP/1.1 ${String(status)} X\r\nContent-Type: application/json\r\nContent-Length: 2\r\nConnection: close\r\n`;
    exchange.raw(Buffer.from(`${head}${fields}\r\n{}`, 'latin1')).fin();
  });
}

const utf8 = (text: string): string => Buffer.from(text).toString('latin1');

/** The platform's fields as the browser receives them (decision 120). */
export function responseFieldSuite(framework: Framework): void {
  describe('a file of the platform', () => {
    it.each(
      ROUTES.flatMap((route): [keyof typeof FIELD_ROUTES, string, string][] => [
        [
          route,
          'attachment; filename="文件.pdf"',
          `attachment; filename=__.pdf; filename*=UTF-8''%E6%96%87%E4%BB%B6.pdf`,
        ],
        [route, 'inline; filename="5€.txt"', `inline; filename=5_.txt; filename*=UTF-8''5%E2%82%AC.txt`],
        // Letters whose low bytes are CR and LF.
        [
          route,
          'inline; filename="ačĊx-odd: 1čĊčĊ.txt"',
          `inline; filename="a__x-odd: 1____.txt"; filename*=UTF-8''a%C4%8D%C4%8Ax-odd%3A%201%C4%8D%C4%8A%C4%8D%C4%8A.txt`,
        ],
      ]),
    )('keeps its name on %s: %s', async (route, sent, written) => {
      const world = await startPlatformWorld(framework);
      willSend(world, `Content-Disposition: ${utf8(sent)}\r\n`);
      const head = await readHead(world.url, FIELD_ROUTES[route]);
      expect(head.values('content-disposition')).toEqual([written]);
      expect(faultsOf(head)).toEqual([]);
    });

    it('keeps its name in a cached render', async () => {
      const world = await startPlatformWorld(framework, { cache: { enabled: true } });
      willSend(world, `Content-Disposition: ${utf8('inline; filename="文件.pdf"')}\r\n`);
      for (const status of ['MISS', 'HIT']) {
        const head = await readHead(world.url, FIELD_ROUTES.renders);
        expect(head.values('x-cache')).toEqual([status]);
        expect(head.values('content-disposition')).toEqual([
          `inline; filename=__.pdf; filename*=UTF-8''%E6%96%87%E4%BB%B6.pdf`,
        ]);
      }
    });
  });

  it('are printable ASCII, appear once and include every security field', { timeout: A_LONG_RUN }, async () => {
    const world = await startPlatformWorld(framework);
    const responses = oddResponses(WIRE_VALUE, VALUES / 2, SEED);
    const faults = await faultsAmong(world.url, responses, ({ status, fields }) => {
      willSend(world, fields.map(([name, value]) => `${name}: ${value}\r\n`).join(''), status);
    });
    expect(faults).toEqual([]);
  });

  it("are equally safe when they come from the site's own upstream", { timeout: A_LONG_RUN }, async () => {
    const responses = oddResponses(OWN_VALUE, VALUES / 2, SEED);
    let response: HttpResponse = { status: 200, headers: {}, body: null };
    const toolkit = createToolkit(
      {
        a2aUrl: 'https://agent.example/',
        serviceApiUrl: 'https://platform.example/',
        serviceApiKey: 'key',
        telemetry: 'silent',
      },
      { upstream: { send: () => Promise.resolve({ kind: 'response', response }), close: () => Promise.resolve() } },
    );
    const site = await framework.start({ toolkit, auth: signedIn });
    onTestFinished(async () => {
      await site.close();
      await toolkit.close();
    });
    const faults = await faultsAmong(site.url, responses, ({ status, fields }) => {
      response = { status, headers: { 'content-type': 'application/json', ...Object.fromEntries(fields) }, body: '{}' };
    });
    expect(faults).toEqual([]);
  });
}

/** The first faults of the responses, each on one route, with the start of the platform's response. `send` makes the platform send one. */
async function faultsAmong<Value>(
  url: string,
  responses: readonly OddResponse<Value>[],
  send: (response: OddResponse<Value>) => void,
): Promise<readonly string[]> {
  const faults: string[] = [];
  for (const [at, response] of responses.entries()) {
    send(response);
    const route = ROUTES[at % ROUTES.length] ?? 'chat';
    const found = faultsOf(await readHead(url, FIELD_ROUTES[route]));
    if (found.length > 0) faults.push(`${route}: ${found.join(', ')}; ${JSON.stringify(response).slice(0, 400)}`);
    if (faults.length === 3) break;
  }
  return faults;
}
