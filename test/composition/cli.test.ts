import { mkdtempSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ServerConfig, type ToolkitPorts, createToolkit } from 'agent-bff';
import { FakeTokenExchange, FakeUpstream } from 'agent-bff/testing';
import { importSPKI, jwtVerify } from 'jose';
import { afterAll, describe, expect, it } from 'vitest';
import { runCommandLine } from '../support/command-line.js';
import { fixesOf } from '../support/doctor-fixes.js';
import {
  makeClientCertificate,
  removeClientCertificates,
  runIdpA,
  runIdpB,
  type ClientCertificate,
} from '../support/identity-provider/index.js';
import { newServiceAccountKey } from '../support/service-account.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const registered = makeClientCertificate();
const { idp: idpA, trusting } = await runIdpA();
const { idp: idpB, cloud } = await runIdpB({ certificates: [registered.certificatePem] });
const keys = await newServiceAccountKey();
const folder = temporaryFolder('cli');
afterAll(() => {
  removeClientCertificates();
});

let files = 0;
function configFile(config: unknown): string {
  files += 1;
  const path = join(folder, `config-${String(files)}.json`);
  writeFileSync(path, typeof config === 'string' ? config : JSON.stringify(config));
  return path;
}

const addresses = { a2aUrl: 'https://agent.example/a2a', serviceApiUrl: 'https://platform.example/api' };
const atA = () => ({ identityFetch: trusting.fetch as typeof fetch });
const atB = () => ({ identityFetch: cloud.fetch as typeof fetch });

async function doctor(config: ServerConfig, ports: ToolkitPorts = {}) {
  const upstream = workingPlatform();
  const result = await runCommandLine(
    ['doctor', '--config', configFile({ ...addresses, ...config })],
    {},
    { upstream, ...ports },
  );
  for (const secret of secretsOf(config)) expect(result.printed + result.complained).not.toContain(secret);
  return result;
}

/** A platform with an agent card, a project and a brand. */
function workingPlatform(): FakeUpstream {
  const json = (body: object) => ({
    status: 200,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return new FakeUpstream(({ path, method, headers }) => {
    if (method === 'POST') {
      const isKnown = headers['authorization'] !== undefined || headers['x-api-key'] !== undefined;
      return isKnown
        ? json({ jsonrpc: '2.0', id: 1, error: { code: -32_001 } })
        : { status: 401, headers: {}, body: null };
    }
    if (path.endsWith('/project')) return json({ id: 'project-1' });
    if (path.endsWith('.css')) return { status: 404, headers: {}, body: null };
    return json({ name: 'Agent', url: addresses.a2aUrl, protocolVersion: '0.3.0', preferredTransport: 'JSONRPC' });
  });
}

/** Returns every secret value of a configuration; for a PEM, each of its lines. */
function secretsOf({ serviceApiKey, serviceAccount, idpA: a, idpAServiceUser, idpBService }: ServerConfig): string[] {
  return [
    serviceApiKey,
    serviceAccount?.privateKeyPem,
    a?.clientSecret,
    idpAServiceUser?.password,
    idpBService?.clientSecret,
  ]
    .flatMap((secret) => String(secret ?? '').split('\n'))
    .filter((piece) => piece.length > 8 && !piece.startsWith('---'));
}

const account = (block: ServerConfig['serviceAccount'] = {}): ServerConfig => ({
  serviceAccount: { serviceAccountId: 'site-1', keyId: 'key-1', privateKeyPem: keys.privateKey, ...block },
});
const password = (block: ServerConfig['idpA'] = {}, user: ServerConfig['idpAServiceUser'] = {}): ServerConfig => ({
  authProvider: 'idp_a',
  idpA: {
    domain: idpA.domain,
    clientId: idpA.client.id,
    clientSecret: idpA.client.secret,
    audience: idpA.audience,
    ...block,
  },
  idpAServiceUser: { ...idpA.user, ...user },
});
const application = (block: ServerConfig['idpBService'] = {}): ServerConfig => ({
  authProvider: 'idp_b',
  idpBService: {
    tenantId: idpB.tenantId,
    clientId: idpB.client.id,
    clientSecret: idpB.client.secret,
    scope: idpB.scope,
    ...block,
  },
});
const paths = ({ certificatePath, privateKeyPath }: ClientCertificate) => ({ certificatePath, privateKeyPath });

describe('agent-bff doctor with a working configuration', () => {
  it.each<[string, () => ServerConfig, () => ToolkitPorts, string[]]>([
    ['a service account', account, () => ({}), ['✓ private key', '✓ token', '✓ audience', '✓ expiry']],
    [
      'the password grant',
      password,
      atA,
      ['✓ provider', '✓ token', `${'✓ audience'.padEnd(20)}https://platform`, '✓ scope'],
    ],
    ['a client secret for idp_b', application, atB, ['✓ provider', '✓ token', 'api://platform']],
    [
      'a certificate for idp_b',
      () => application(paths(registered)),
      atB,
      ['✓ certificate ', 'takes precedence over the client secret', '✓ certificate dates', '✓ token'],
    ],
    [
      'the token exchange alone',
      () => ({ idpBService: application().idpBService, onBehalfOf: {} }),
      atB,
      ['✓ provider', '- exchange'],
    ],
    [
      'a token exchange of the site',
      () => ({ idpBService: { tenantId: idpB.tenantId }, onBehalfOf: {} }),
      () => ({ ...atB(), tokenExchange: new FakeTokenExchange() }),
      ['- exchange          needs a signed-in user', '- platform          needs a signed-in user'],
    ],
    [
      'a private key that is configured twice',
      () => account({ privateKeyPath: '/run/key.pem' }),
      () => ({}),
      ['! private key'],
    ],
  ])('finds nothing to fix for %s', async (_title, config, ports, lines) => {
    const { status, printed } = await doctor(config(), ports());
    for (const line of lines) expect(printed).toContain(line);
    expect(printed).toContain('All is well.');
    expect(printed).not.toContain('✗');
    expect(status).toBe(0);
  });
});

describe('agent-bff doctor names the block and the fields to fix for', () => {
  it.each<[string, () => ServerConfig, () => ToolkitPorts, string]>([
    ['a misspelt field', () => ({ idpA: { clientid: 'x' } }) as ServerConfig, () => ({}), 'idpA: clientid'],
    ['an empty idpA block', () => ({ authProvider: 'idp_a' }), atA, 'idpA: domain, clientId, clientSecret'],
    [
      'a token exchange without its scope',
      () => ({ idpBService: { ...application().idpBService, scope: '' }, onBehalfOf: {} }),
      atB,
      'idpBService: scope',
    ],
    [
      'an expired certificate of the token exchange',
      () => ({ ...application(), onBehalfOf: paths(makeClientCertificate({ validToDays: -3 })) }),
      atB,
      'onBehalfOf: certificatePath, privateKeyPath',
    ],
  ])('%s', async (_title, config, ports, fix) => {
    const { status, printed } = await doctor(config(), ports());
    expect(fixesOf(printed, fix), printed).toHaveLength(1);
    // One fault is one line.
    expect(printed.match(/✗/g)).toHaveLength(1);
    expect(printed).toContain('1 to fix.');
    expect(status).toBe(1);
  });

  it('a token for another API or with fewer scopes than requested', async () => {
    const token = await idpA.issueUserToken('svc', { audience: 'https://other.example', scope: 'read' });
    idpA.faults.token = { transform: (body) => ({ ...body, access_token: token }) };
    const { status, printed } = await doctor(password({ scope: 'read chat' }), atA());
    expect(fixesOf(printed, 'idpA: audience')).toHaveLength(1);
    expect(printed).toContain('not granted: chat\n    fix: Grant');
    expect(printed).not.toContain(token);
    expect(status).toBe(1);
  });

  it('a provider that hangs, after its timeout', async () => {
    idpA.faults.metadata = { hang: true };
    const { status, printed } = await doctor({ ...password(), timeouts: { identityProviderMs: 100 } }, atA());
    expect(printed).toContain('cannot be reached: TIMEOUT');
    expect(printed).toContain('- token');
    expect(status).toBe(1);
  });
});

describe('agent-bff keygen', () => {
  it('writes a working key pair, the private key readable by its owner only', async () => {
    const { status, printed } = await runCommandLine(['keygen', '--out', folder, '--name', 'shop']);
    expect(status).toBe(0);
    const [privatePath, publicPath] = [join(folder, 'shop.pem'), join(folder, 'shop.pub.pem')];
    expect(printed).toContain(privatePath);
    expect(printed).not.toContain('BEGIN');
    expect(statSync(privatePath).mode & 0o777).toBe(0o600);

    const toolkit = createToolkit({ serviceAccount: { serviceAccountId: 'shop', privateKeyPath: privatePath } });
    const { authorization = '' } = await toolkit.authHeaders();
    const registeredKey = await importSPKI(readFileSync(publicPath, 'utf8'), 'RS256');
    const { payload } = await jwtVerify(authorization.replace('Bearer ', ''), registeredKey);
    expect(payload.iss).toBe('shop');
    expect((await doctor({ serviceAccount: { serviceAccountId: 'shop', privateKeyPath: privatePath } })).status).toBe(
      0,
    );
  });

  it.each(['half.pem', 'half.pub.pem'])('writes neither file when %s exists', async (name) => {
    const place = mkdtempSync(join(folder, 'half-'));
    writeFileSync(join(place, name), 'older');
    const { status, complained } = await runCommandLine(['keygen', '--out', place, '--name', 'half']);
    expect(status).toBe(1);
    expect(complained).toContain('already holds a key named "half"');
    expect(readFileSync(join(place, name), 'utf8')).toBe('older');
    const other = name === 'half.pem' ? 'half.pub.pem' : 'half.pem';
    expect(() => statSync(join(place, other))).toThrow('ENOENT');
  });

  it('creates the folder', async () => {
    const out = join(folder, 'new', 'keys');
    expect((await runCommandLine(['keygen', '--out', out])).status).toBe(0);
    expect(readdirSync(out)).toEqual(['service-account.pem', 'service-account.pub.pem']);
  });

  it.each([
    ['a file', 'EEXIST', []],
    ['a folder below a file', 'ENOTDIR', ['keys']],
  ])('reports a folder it cannot write: %s', async (_kind, code, below) => {
    const file = join(folder, 'taken');
    writeFileSync(file, '');
    const { status, complained } = await runCommandLine(['keygen', '--out', join(file, ...below)]);
    expect(status).toBe(1);
    expect(complained).toContain(`cannot be written to ${join(file, ...below)} (${code})`);
  });
});

it.each(['--env', '--config'])(
  'agent-bff doctor rejects a UTF-16 file of %s, as PowerShell writes it',
  async (option) => {
    const path = join(folder, 'utf-16');
    writeFileSync(path, '\uFEFFA2A_URL=https://file.example/a2a', 'utf16le');
    const { status, complained } = await runCommandLine(['doctor', option, path]);
    expect(status).toBe(2);
    expect(complained).toBe(
      `agent-bff: The file of ${option} is not UTF-8, but UTF-16 or binary: ${path}. Save it as UTF-8.`,
    );
  },
);

it('agent-bff doctor adds the variables in the --env file to the environment', async () => {
  const path = join(folder, 'doctor.env');
  writeFileSync(path, '\uFEFFSERVICE_API_KEY="any-key"\n# a site\nA2A_URL=https://file.example/a2a\n');
  const env = { A2A_URL: addresses.a2aUrl };
  const { status, printed } = await runCommandLine(['doctor', '--env', path], { env }, { upstream: workingPlatform() });
  expect(printed).toContain(`✓ agent address     ${addresses.a2aUrl}`);
  expect(printed).toContain('the API key alone');
  expect(status).toBe(0);
});

it.each([[[]], [['--json']]])(
  'agent-bff doctor names the variables to fix, unless it reads a file: %j',
  async (args) => {
    const variables = /\bSERVICE_ACCOUNT_PRIVATE_KEY\W+SERVICE_ACCOUNT_PRIVATE_KEY_PATH\b/;
    const env = { SERVICE_ACCOUNT_ID: 'site-1', A2A_URL: addresses.a2aUrl };
    expect((await runCommandLine(['doctor', ...args], { env })).printed).toMatch(variables);
    const file = configFile({ ...addresses, serviceAccount: { serviceAccountId: 'site-1' } });
    const { printed } = await runCommandLine(['doctor', '--config', file, ...args]);
    expect(printed).toContain('privateKeyPem');
    expect(printed).not.toMatch(/SERVICE_|variables/);
  },
);

describe('agent-bff doctor with a usage error', () => {
  it.each<[string, () => string[], string, string]>([
    ['an unknown option', () => ['--confg', 'x'], '--confg', 'Did you mean "--config"?'],
    ['an option of Node itself', () => ['--env-file', '/dev/null'], '--env-file', 'Did you mean "--env"?'],
    ['an option without its value', () => ['--config'], '--config', '--help'],
    ['a missing file', () => ['--config', '/nowhere.json'], '--config', '(ENOENT, there is none).'],
    ['a folder instead of a file', () => ['--config', folder], '--config', 'EISDIR, it is a folder'],
    [
      'a file that is not JSON',
      () => ['--config', configFile('{\n"serviceApiKey": "s3cr3t" "')],
      '--config',
      '(line 2)',
    ],
    ['an empty file', () => ['--config', configFile('')], '--config', '.json.'],
    [
      'a missing variables file, which may be omitted',
      () => ['--env', '/nowhere.env'],
      '--env',
      'that this user can read, or omit it to read the environment.',
    ],
    ['both sources', () => ['--env', '/nowhere.env', '--config', '/nowhere.json'], '--env', 'cannot be combined'],
    ['a misspelt --help', () => ['--hlep'], '--hlep', 'Did you mean "--help"?'],
  ])('exits with 2 and reports the error, as JSON on request: %s', async (_title, args, option, says) => {
    const { status, printed, complained } = await runCommandLine(['doctor', '--json', ...args()]);
    expect([status, complained]).toEqual([2, '']);
    expect(JSON.parse(printed)).toMatchObject({
      ok: false,
      findings: [{ check: 'command line', result: 'failed', block: 'command line', fields: [option] }],
    });
    expect(printed.replaceAll('\\"', '"')).toContain(says);
    expect(printed).not.toMatch(/s3cr3t|agent-bff:/);

    const plain = await runCommandLine(['doctor', ...args()]);
    expect([plain.status, plain.printed]).toEqual([2, '']);
    expect(plain.complained).toContain(says);
    expect(plain.complained).not.toContain('s3cr3t');
  });

  it('reports a misspelt variable as JSON on request', async () => {
    const env = { IDP_A_CLIENT_SECRT: 's3cr3t', A2A_URL: 'nonsense', PUBLIC_URL: '/' };
    const { status, printed } = await runCommandLine(['doctor', '--json'], { env });
    expect(status).toBe(1);
    expect(JSON.parse(printed)).toMatchObject({
      ok: false,
      findings: [
        { check: 'environment', result: 'failed', fields: ['IDP_A_CLIENT_SECRT'] },
        { check: 'environment', result: 'warning', fields: ['PUBLIC_URL'] },
        { check: 'configuration', result: 'failed', fields: ['a2aUrl'] },
      ],
    });
  });

  it('reports a wrong "chatLimit" in its file as JSON on request', async () => {
    const { status, printed } = await runCommandLine([
      'doctor',
      '--json',
      '--config',
      configFile('{ "chatLimit": 3 }'),
    ]);
    expect(status).toBe(1);
    expect(JSON.parse(printed)).toMatchObject({ ok: false, findings: [{ check: 'configuration', result: 'failed' }] });
  });
});
