import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { createToolkit, type ServerConfig } from 'agent-bff';
import { createWebHandler } from 'agent-bff/web';
import { Agent, EnvHttpProxyAgent, ProxyAgent } from 'undici';
import { describe, expect, it, onTestFinished } from 'vitest';
import { connectProxy } from '../support/connect-proxy.js';
import { corporateHost, type CorporateHost } from '../support/corporate-host.js';
import { privateAuthority } from '../support/identity-provider/private-authority.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const { ca, serverCertificate: cert, serverKey: key } = privateAuthority();

interface Company {
  readonly agent: CorporateHost;
  readonly platform: CorporateHost;
  readonly provider: CorporateHost;
  readonly config: ServerConfig;
  /** Hosts and ports of all three. */
  readonly hosts: readonly string[];
}

async function company(isMutual = false): Promise<Company> {
  const [agent, platform, provider] = [
    await corporateHost(isMutual),
    await corporateHost(isMutual),
    await corporateHost(isMutual),
  ];
  const config: ServerConfig = {
    a2aUrl: `${agent.origin}/a2a`,
    serviceApiUrl: platform.origin,
    serviceAuthStrategy: 'client_credentials',
    authProvider: 'idp_a',
    idpA: { domain: provider.origin, clientId: 'site', clientSecret: 'a-client-secret' },
  };
  return { agent, platform, provider, config, hosts: [provider, agent, platform].map(({ origin }) => hostOf(origin)) };
}

const hostOf = (origin: string): string => new URL(origin).host;

/** Sends a chat message and looks the brand up; returns status and brand. */
async function visit(config: ServerConfig): Promise<unknown> {
  const toolkit = createToolkit({ ...config, telemetry: 'silent' });
  onTestFinished(() => toolkit.close({ graceMs: 0 }));
  const message = { kind: 'message', messageId: '1', role: 'user', parts: [{ kind: 'text', text: 'hello' }] };
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'message/send', params: { message } });
  const headers = { 'content-type': 'application/json' };
  const request = new Request('https://site.example/api/a2a', { method: 'POST', headers, body });
  const response = await createWebHandler({ toolkit, a2a: { conversations: 'open' } })(request);
  await response.text();
  return [response.status, await toolkit.brandCss()];
}

/** A dispatcher that is closed when the test ends. */
function closing<Dispatcher extends { destroy(): Promise<unknown> }>(dispatcher: Dispatcher): Dispatcher {
  onTestFinished(async () => void (await dispatcher.destroy()));
  return dispatcher;
}

const SERVED = [200, expect.stringContaining('--brand') as string];

describe('agent, platform and identity provider', () => {
  it.each([
    ['without a password', undefined],
    ['with a password', 'open sesame'],
  ])('are reached through a proxy %s', async (_how, password) => {
    const { config, agent, hosts } = await company();
    const proxy = await connectProxy({ ...(password !== undefined && { password }) });
    const dispatcher = closing(new ProxyAgent({ uri: proxy.address, requestTls: { ca } }));
    expect(await visit({ ...config, dispatcher })).toEqual(SERVED);
    expect(proxy.hosts).toEqual(hosts);
    expect(agent.requests).toEqual(['POST /a2a Bearer a-token']);
  });

  it('are reached through a proxy that is spoken to over TLS', async () => {
    const { config, hosts } = await company();
    const proxy = await connectProxy({ tls: true, password: 'p' });
    const dispatcher = closing(new ProxyAgent({ uri: proxy.address, proxyTls: { ca }, requestTls: { ca } }));
    expect(await visit({ ...config, dispatcher })).toEqual(SERVED);
    expect(proxy.hosts).toEqual(hosts);
  });

  it('are reached with a private certificate authority', async () => {
    const { config, provider } = await company();
    const dispatcher = closing(new Agent({ connect: { ca } }));
    expect(await visit({ ...config, dispatcher })).toEqual(SERVED);
    expect(provider.requests).toEqual(['GET /.well-known/openid-configuration -', 'POST /token -']);
  });

  it('are reached with a client certificate', async () => {
    const { config, agent, platform, provider } = await company(true);
    const dispatcher = closing(new Agent({ connect: { ca, cert, key } }));
    expect(await visit({ ...config, dispatcher })).toEqual(SERVED);
    const requests = [agent, platform, provider].flatMap((host) => host.requests);
    expect(requests).toHaveLength(4);
    for (const request of requests) expect(request).toContain('with a certificate');
  });

  it('take different ways, the provider that of the platform', async () => {
    const { config, hosts } = await company();
    const proxies = [await connectProxy(), await connectProxy()];
    const [agent, platform] = proxies.map(({ address: uri }) => closing(new ProxyAgent({ uri, requestTls: { ca } })));
    expect(await visit({ ...config, dispatcher: { agent, platform } })).toEqual(SERVED);
    const [provider, toAgent, toPlatform] = hosts;
    expect(proxies.map((proxy) => proxy.hosts)).toEqual([[toAgent], [provider, toPlatform]]);
  });

  it('of one origin take different ways by the path of the agent', async () => {
    const { config, agent, hosts } = await company();
    const proxies = [await connectProxy(), await connectProxy()];
    const [toAgent, platform] = proxies.map(({ address: uri }) => closing(new ProxyAgent({ uri, requestTls: { ca } })));
    const [provider, host] = hosts;
    const dispatcher = { agent: toAgent, platform };
    expect(await visit({ ...config, serviceApiUrl: agent.origin, dispatcher })).toEqual(SERVED);
    expect(proxies.map((proxy) => proxy.hosts)).toEqual([[host], [provider, host]]);
  });

  it('keep their dispatcher open when the toolkit closes', async () => {
    const { config } = await company();
    const dispatcher = closing(new EnvHttpProxyAgent({ connect: { ca }, noProxy: '*' }));
    const toolkit = createToolkit({ ...config, dispatcher });
    await toolkit.close({ graceMs: 0 });
    expect(await visit({ ...config, dispatcher })).toEqual(SERVED);
  });
});

describe('a site with NODE_USE_ENV_PROXY=1', { timeout: 60_000 }, () => {
  const PROGRAM = fileURLToPath(new URL('corporate-network-process.mjs', import.meta.url));

  async function run(config: ServerConfig, env: Readonly<Record<string, string>>) {
    const authority = join(temporaryFolder('corporate-network'), 'ca.pem');
    writeFileSync(authority, ca);
    const own = Object.entries(process.env).filter(([name]) => !/^(?:https?|no)_proxy$/i.test(name));
    const all = { ...Object.fromEntries(own), NODE_EXTRA_CA_CERTS: authority, NODE_USE_ENV_PROXY: '1', ...env };
    const { stdout } = await promisify(execFile)(process.execPath, [PROGRAM, JSON.stringify(config)], { env: all });
    return JSON.parse(stdout) as { status: number; text: string; brand: string; reports: readonly string[] };
  }

  it.each(['HTTPS_PROXY', 'https_proxy', 'HTTP_PROXY'])('reaches all three through the proxy of %s', async (name) => {
    const { config, hosts, agent } = await company();
    const proxy = await connectProxy({ password: 'open sesame' });
    const { status, brand } = await run(config, { [name]: proxy.address });
    expect([status, brand]).toEqual(SERVED);
    expect(proxy.hosts).toEqual(hosts);
    expect(agent.requests).toEqual(['POST /a2a Bearer a-token']);
  });

  it('reaches the hosts of NO_PROXY directly, and all of them where the variable is not set', async () => {
    const { config } = await company();
    const proxy = await connectProxy();
    for (const env of [{ NO_PROXY: '127.0.0.1' }, { NODE_USE_ENV_PROXY: '' }]) {
      const { status, brand } = await run(config, { HTTPS_PROXY: proxy.address, ...env });
      expect([status, brand]).toEqual(SERVED);
    }
    expect(proxy.hosts).toEqual([]);
  });

  it('names a proxy that refuses its password to the operator, without the password', async () => {
    const { config } = await company();
    const { host } = new URL((await connectProxy({ password: 'open sesame' })).address);
    const { status, text, reports } = await run(
      { ...config, serviceAuthStrategy: 'none' },
      { HTTPS_PROXY: `http://site:a-proxy-password@${host}` },
    );
    expect(status).toBe(502);
    expect(reports.join('\n')).toMatch(/\(407\).*requires another user name and password/);
    expect(text + reports.join('\n')).not.toContain('a-proxy-password');
  });
});
