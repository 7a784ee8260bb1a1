import { createToolkit } from 'agent-bff';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { HttpResponse } from '../../src/ports/http.js';
import { nodeHttpSite } from '../site/frameworks/node-http.js';
import { signedIn } from '../site/world.js';
import { arrive, http2Site } from '../support/http2-site.js';
import { faultsOf, oddResponses, OWN_VALUE, WIRE_VALUE } from '../support/odd-fields.js';
import { FIELD_ROUTES, type FieldLine, type RawHead, readHead } from '../support/raw-head.js';

const VALUES = Number(process.env['FIELD_VALUES'] ?? 2_000);
const SEED = Number(process.env['FIELD_SEED'] ?? 1);
const { records } = FIELD_ROUTES;
/** Fields of the connection, or of the host's clock. */
const OF_HOSTS: ReadonlySet<string> = new Set([
  'connection',
  'date',
  'transfer-encoding',
  'keep-alive',
  'content-length',
]);

describe('response fields over HTTP/2', () => {
  it.each([
    ['bytes of a platform', WIRE_VALUE],
    ["an upstream of the site's own", OWN_VALUE],
  ])('equal those over HTTP/1.1, from %s', { timeout: 20_000 + VALUES * 20 }, async (_from, value) => {
    let response: HttpResponse = { status: 200, headers: {}, body: null };
    const toolkit = createToolkit(
      { serviceApiUrl: 'https://platform.example/', serviceApiKey: 'key', telemetry: 'silent' },
      { upstream: { send: () => Promise.resolve({ kind: 'response', response }), close: () => Promise.resolve() } },
    );
    const [one, two] = await Promise.all([
      nodeHttpSite('HTTP/1.1').start({ toolkit, auth: signedIn }),
      http2Site.start({ toolkit, auth: signedIn }),
    ]);
    onTestFinished(async () => {
      await Promise.all([one.close(), two.close(), toolkit.close()]);
    });
    const visitor = await arrive(two.url);
    for (const { status, fields } of oddResponses<string | readonly string[]>(value, VALUES / 2, SEED)) {
      response = { status, headers: { 'content-type': 'application/json', ...Object.fromEntries(fields) }, body: '{}' };
      const overOne = await readHead(one.url, records);
      const reply = await visitor.visit({ method: 'GET', path: records.path, headers: records.headers ?? {} });
      await reply.text();
      const overTwo = headOf(reply.status, reply.headers);
      expect([overTwo.status, faultsOf(overTwo)]).toEqual([overOne.status, []]);
      expect(chosen(overTwo)).toEqual(chosen(overOne));
    }
  });
});

function headOf(status: number, headers: Readonly<Record<string, string | readonly string[] | undefined>>): RawHead {
  const lines = Object.entries(headers).flatMap(([name, value]): FieldLine[] =>
    name.startsWith(':') ? [] : [value ?? ''].flat().map((text) => [name, text]),
  );
  return { status, lines, values: (name) => lines.filter(([one]) => one === name).map(([, value]) => value) };
}

function chosen({ lines }: RawHead): readonly string[] {
  return lines
    .filter(([name]) => !OF_HOSTS.has(name))
    .map((line) => line.join(': '))
    .sort();
}
