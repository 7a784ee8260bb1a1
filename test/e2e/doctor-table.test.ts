import { lookup } from 'node:dns/promises';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ServerConfig, ToolkitPorts } from 'agent-bff';
import { FakeClock } from 'agent-bff/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Finding } from '../../src/composition/cli/finding.js';
import { runCommandLine } from '../support/command-line.js';
import { fixesOf } from '../support/doctor-fixes.js';
import { FirstHour, saying, selfSigned } from '../support/first-hour.js';
import { runIdpA } from '../support/identity-provider/index.js';
import { refusedOrigin } from '../support/recording-upstream.js';
import { newServiceAccountKey } from '../support/service-account.js';
import { temporaryFolder } from '../support/temporary-folder.js';

// The broken configurations behind the table of doctor findings in docs/troubleshooting.md.

const folder = temporaryFolder('doctor-table');
/** Without a name server, a lookup of an unknown name fails with a code other than ENOTFOUND. */
const namesAreKnown = await lookup('agent.invalid').catch(({ code }: NodeJS.ErrnoException) => code === 'ENOTFOUND');
const { idp, trusting } = await runIdpA();
let world: FirstHour;
let other: Awaited<ReturnType<typeof newServiceAccountKey>>;

beforeAll(async () => {
  world = await FirstHour.start();
  other = await newServiceAccountKey();
});
afterAll(async () => {
  await world.close();
});

const HTML = 'text/html; charset=utf-8';
const PAGE = '<h1>Not Found</h1>';
/** A card and a JSON-RPC response in one. */
const CARD = '{"name":"Agent","url":"/","protocolVersion":"0.3.0","jsonrpc":"2.0","result":{}}';
const LOGIN = '<title>Sign in</title><form><input type="password"></form>';

/** A configuration in a file, or in the environment. */
interface Broken {
  readonly config?: ServerConfig;
  readonly env?: Readonly<Record<string, string>>;
  readonly ports?: ToolkitPorts;
}

const agent = (a2aUrl: string): Broken => ({ config: world.config({ a2aUrl }) });
const account = (block: ServerConfig['serviceAccount']): Broken => ({ config: world.config({}, block) });
const keyed = (a2aUrl: string): Broken => ({ config: { a2aUrl, serviceApiKey: 'hunter2-hunter2' } });

/** The broken configurations, by their name in the first column of the table. */
const BROKEN: Readonly<Record<string, () => Broken | Promise<Broken>>> = {
  'Nothing listens at the port': async () => agent(await refusedOrigin()),
  'The host does not exist': () => agent('http://agent.invalid/a2a'),
  'A certificate nobody trusts': async () => agent(await selfSigned()),
  'https in place of http': () => agent(world.platform.a2aUrl.replace('http:', 'https:')),
  'http in place of https': async () => agent((await selfSigned()).replace('https:', 'http:')),
  'A wrong path': async () => agent(await saying(404, HTML, PAGE)),
  'The address of a web page': async () => agent(await saying(200, HTML, '<h1>Shop</h1>')),
  'A sign-in page with 200': async () => agent(await saying(200, HTML, LOGIN)),
  'A redirect to a sign-in': async () =>
    agent(await saying(302, 'text/plain', '', { location: 'https://idp.example/login' })),
  'A role that is missing': async () => agent(await saying(403, 'application/json', '{"error":"no role chat.user"}')),
  'The key of another account': () => account({ privateKeyPem: other.privateKey }),
  'A wrong key id': () => account({ keyId: 'key-2' }),
  'A wrong audience': () => account({ audience: 'https://elsewhere.example' }),
  'A wrong API key': async () => keyed(await saying(401, 'application/json', '{"error":"unknown key"}')),
  'A clock that is ten minutes late': async () => ({
    config: {
      a2aUrl: await saying(200, 'application/json', CARD),
      serviceApiKey: 'key-of-the-site',
    },
    ports: { clock: new FakeClock(Date.now() - 600_000) },
  }),
  'A key file that is not there': () => account({ privateKeyPem: '', privateKeyPath: join(folder, 'key.pem') }),
  'A wrong client secret': () => ({
    config: world.config({
      authProvider: 'idp_a',
      serviceAuthStrategy: 'client_credentials',
      idpA: { domain: idp.domain, clientId: idp.client.id, clientSecret: 'wrong-secret', audience: idp.audience },
    }),
    ports: { identityFetch: trusting.fetch as typeof fetch },
  }),
  'A misspelt variable': async () => ({
    env: {
      A2A_URL: await saying(200, 'application/json', CARD),
      SERVICE_API_KEY: 'any-key',
      IDP_A_DOMIAN: 'x.example',
    },
  }),
  'A wrong path of the project': () => ({ config: world.config({ upstream: { paths: { project: '/nowhere' } } }) }),
  'A store that is down': () => ({ config: world.config({ cacheStore: 'redis://127.0.0.1:1' }) }),
};

interface Row {
  readonly what: string;
  readonly check: string;
  readonly reason: string;
  readonly fix: string;
}

/** The rows of the table in docs/troubleshooting.md. */
function rows(): readonly Row[] {
  const page = readFileSync('docs/troubleshooting.md', 'utf8');
  const table = page.slice(page.indexOf('## What the doctor says')).match(/(?:^\|.*\n)+/m)?.[0] ?? '';
  return table
    .split('\n')
    .slice(2)
    .filter((line) => line !== '')
    .map((line) => {
      const [, what = '', check = '', reason = '', fix = ''] = line.split('|').map((cell) => cell.trim());
      return { what, check, reason, fix };
    });
}

/** Matches a text in which `…` is a wildcard. */
function withGaps(text: string): RegExp {
  const pieces = text.split('…').map((piece) => piece.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${pieces.join('.*')}$`, 's');
}

async function doctor({ config, env = {}, ports = {} }: Broken) {
  const path = join(folder, `${crypto.randomUUID()}.json`);
  writeFileSync(path, JSON.stringify(config ?? {}));
  const from = config === undefined ? [] : ['--config', path];
  const run = (...args: string[]) => runCommandLine(['doctor', ...from, ...args], { env }, ports);
  const { findings } = JSON.parse((await run('--json')).printed) as { findings: readonly Finding[] };
  return { findings, ...(await run()) };
}

describe('the doctor run on twenty broken configurations', () => {
  it('covers every row of the table in docs/troubleshooting.md', () => {
    expect(rows().map(({ what }) => what)).toEqual(Object.keys(BROKEN));
    expect(rows()).toHaveLength(20);
  });

  it.for(rows())('prints the documented reason and fix: $what', async ({ what, check, reason, fix }, { skip }) => {
    if (what === 'The host does not exist' && namesAreKnown !== true) skip();
    const broken = await BROKEN[what]?.();
    const { findings, printed, status } = await doctor(broken ?? {});
    const wrong = findings.filter((finding) => finding.result === 'failed' || finding.check === check);
    expect(wrong).toEqual([
      expect.objectContaining({
        check,
        message: expect.stringMatching(withGaps(reason)) as string,
        fix: expect.stringMatching(withGaps(fix)) as string,
      }),
    ]);
    // One fault is reported on one line.
    const failed = findings.filter(({ result }) => result === 'failed').length;
    expect([printed.match(/✗/g)?.length ?? 0, status]).toEqual([failed, failed]);
    const [{ block = '', fields = [] } = {}] = wrong;
    const [field = ''] = fields.filter((one) => fix.includes(one));
    expect(fixesOf(printed, `${block}: ${field}`)).toHaveLength(1);
    expect(printed).not.toMatch(/eyJ|hunter2|BEGIN|wrong-secret/);
  });
});
