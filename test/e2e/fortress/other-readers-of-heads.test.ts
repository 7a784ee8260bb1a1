import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { createToolkit } from 'agent-bff';
import { describe, expect, it, onTestFinished } from 'vitest';
import { nodeHttpSite } from '../../site/frameworks/node-http.js';
import { signedIn } from '../../site/world.js';
import { oddResponses, OWN_VALUE, WIRE_VALUE } from '../../support/odd-fields.js';
import { programPath } from '../../support/program-path.js';
import { FIELD_ROUTES, readHead } from '../../support/raw-head.js';

const fromHere = (name: string): string =>
  fileURLToPath(new URL(`../../support/other-readers/heads/${name}`, import.meta.url));
const PYTHON = process.env['PYTHON3_PATH'] ?? programPath('PYTHON3_PATH', ['python3']);
const GO = programPath('GO_BINARY_PATH', ['go']);

const READERS = [
  { name: "Python's http.client", program: PYTHON, parameters: [fromHere('heads.py')] },
  { name: "Go's net/http", program: GO, parameters: ['run', fromHere('heads.go')] },
] as const;

interface Head {
  readonly status: number;
  readonly fields: readonly (readonly [name: string, value: string])[];
  readonly body: string;
}

/** Fields that differ between connections, or that a reader does not pass on. */
const OF_CONNECTIONS: ReadonlySet<string> = new Set([
  'connection',
  'date',
  'transfer-encoding',
  'keep-alive',
  'content-length',
]);

const RESPONSES = [
  ...oddResponses<string | readonly string[]>(WIRE_VALUE, 600, 7),
  ...oddResponses<string | readonly string[]>(OWN_VALUE, 600, 7),
];

describe('the head of a response', { timeout: 120_000 }, () => {
  for (const { name, program, parameters } of READERS) {
    it.skipIf(program === undefined)(`has the same fields for ${name} as for the simplest parser`, async () => {
      const toolkit = createToolkit(
        { serviceApiUrl: 'https://platform.example/', serviceApiKey: 'key', telemetry: 'silent' },
        {
          upstream: {
            send: ({ path }) => {
              const { status, fields } = RESPONSES[Number(path.split('/').at(-1))] ?? { status: 404, fields: [] };
              const headers = { 'content-type': 'application/json', ...Object.fromEntries(fields) };
              return Promise.resolve({ kind: 'response', response: { status, headers, body: '{}' } });
            },
            close: () => Promise.resolve(),
          },
        },
      );
      const site = await nodeHttpSite('node:http').start({ toolkit, auth: signedIn });
      onTestFinished(async () => {
        await site.close();
        await toolkit.close();
      });
      const { host } = new URL(site.url);
      const arguments_ = [...parameters, host, String(RESPONSES.length)];
      const env = { ...process.env, GO111MODULE: 'off', GOFLAGS: '', CGO_ENABLED: '0' };
      const { stdout } = await promisify(execFile)(program ?? '', arguments_, { env, maxBuffer: 1 << 27 });
      const heads = stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as Head);
      expect(heads).toHaveLength(RESPONSES.length);
      for (const [at, head] of heads.entries()) {
        const raw = await readHead(site.url, { ...FIELD_ROUTES.records, path: `/api/service/files/${String(at)}` });
        expect(head.status).toBe(raw.status);
        expect(comparable(head.fields)).toEqual(comparable(raw.lines));
        expect(() => JSON.parse(head.body) as unknown).not.toThrow();
      }
    });
  }
});

function comparable(fields: Head['fields']): readonly string[] {
  return fields
    .filter(([name]) => !OF_CONNECTIONS.has(name))
    .map((field) => field.join(': '))
    .sort();
}
