import { describe, expect, it } from 'vitest';
import { words } from '../../support/words.js';
import { behindHostCheck, type HostPolicy } from '../../../src/adapters/web/admission.js';
import { hostPolicy, allowedHost } from '../../../src/composition/config/addresses.js';
import type { HeaderFields } from '../../../src/ports/http.js';
import { browserRequest } from './browser-request.js';

interface Names {
  readonly publicUrl?: string;
  readonly allowedHosts?: readonly string[];
  readonly loopback?: boolean;
}

/** The policy of a site with these settings. */
function policyOf({ publicUrl = '', allowedHosts = [], loopback = false }: Names): HostPolicy {
  const policy = hostPolicy({ publicUrl, allowedHosts: allowedHosts.map(allowedHost) }, loopback);
  if (policy === undefined) throw new Error('any name will do');
  return policy;
}

/** The status of a request by its host name. */
async function statusOf(host: HeaderFields[string], names: Names): Promise<number> {
  const handler = behindHostCheck(
    () => Promise.resolve({ status: 200, headers: {}, body: null }),
    policyOf(names),
    (_request, error) => {
      expect(error).toMatchObject({
        name: 'RequestError',
        code: 'host_refused',
        detail: 'The request names a host that this server does not serve.',
        hint: expect.stringContaining('"allowedHosts"') as unknown,
        fields: ['publicUrl', 'allowedHosts'],
        retryable: false,
      });
      return { status: 421, headers: {}, body: null };
    },
  );
  return (await handler(browserRequest({ headers: host === undefined ? {} : { host } }))).status;
}

describe('a site with allowed hosts', () => {
  it.each([
    ['site.example', 'site.example'],
    ['site.example', 'SITE.example'],
    ['site.example', 'site.example:3000'],
    ['site.example', 'site.example:443'],
    ['Site.Example', 'site.example'],
    ['site.example:3000', 'site.example:3000'],
    ['site.example:3000', 'SITE.EXAMPLE:3000'],
    ['site.example:443', 'site.example:443'],
    ['site.example:443', 'site.example'],
    ['site.example:80', 'site.example'],
    ['site.example:03000', 'site.example:3000'],
    ['site.example.', 'site.example.'],
    ['bücher.example', 'xn--bcher-kva.example'],
    ['site_1.internal', 'site_1.internal:80'],
    ['10.0.0.7', '10.0.0.7:3000'],
    ['10.0.0.7:3000', '10.0.0.7:3000'],
    ['[::1]', '[::1]:3000'],
    ['[0:0::1]', '[::1]'],
    ['[::1]:3000', '[0:0:0:0:0:0:0:1]:3000'],
    ['[2001:DB8::1]', '[2001:db8::1]'],
    ['[::ffff:10.0.0.7]', '[::ffff:a00:7]'],
  ])('that allows "%s" serves "%s"', async (entry, host) => {
    expect(await statusOf(host, { allowedHosts: [entry] })).toBe(200);
  });

  it.each<[string, HeaderFields[string]]>([
    ['site.example', 'evil.example'],
    ['site.example', 'a.site.example'],
    ['site.example', 'site.example.evil.example'],
    ['site.example', 'evilsite.example'],
    ['site.example', 'site.example.'],
    ['site.example', 'www.site.example'],
    ['site.example', ''],
    ['site.example', undefined],
    ['site.example', ['site.example']],
    ['site.example', ['site.example', 'site.example']],
    ['site.example', ['site.example', 'evil.example']],
    ['site.example', 'site.example, evil.example'],
    ['site.example', 'site.example evil.example'],
    ['site.example', ' site.example'],
    ['site.example', 'site.example:'],
    ['site.example', 'site.example:http'],
    ['site.example', 'site.example:65536'],
    ['site.example', 'site.example:0443'],
    ['site.example', 'site.example:+80'],
    ['site.example', 'site.example:80:80'],
    ['site.example', 'user@site.example'],
    ['site.example', 'site.example@evil.example'],
    ['site.example', 'site.example:80@evil.example'],
    ['site.example', 'site.example/'],
    ['site.example', 'evil.example/site.example'],
    ['site.example', 'evil.example#site.example'],
    ['site.example', 'evil.example?site.example'],
    ['site.example', 'evil.example\\site.example'],
    ['site.example', 'site%2eexample'],
    ['site.example', 'ｓite.example'],
    ['site.example', 'https://site.example'],
    ['site.example:3000', 'site.example'],
    ['site.example:3000', 'site.example:3001'],
    ['site.example:443', 'site.example:80'],
    ['site.example:443', 'site.example:8443'],
    ['127.0.0.1', '127.1'],
    ['127.0.0.1', '127.0.0.1.'],
    ['127.0.0.1', '0177.0.0.1'],
    ['127.0.0.1', '0x7f.0.0.1'],
    ['127.0.0.1', '2130706433'],
    ['[::1]', '::1'],
    ['[::1]', '[::1'],
    ['[::1]', '[::2]'],
    ['[::1]', '[::1]x'],
    ['[::1]', '[::1%25eth0]'],
    ['[::ffff:10.0.0.7]', '10.0.0.7'],
    ['localhost', 'a.localhost'],
  ])('that allows "%s" rejects %j', async (entry, host) => {
    expect(await statusOf(host, { allowedHosts: [entry] })).toBe(421);
  });

  it.each([
    ['https://site.example', 'site.example', 200],
    ['https://site.example', 'site.example:443', 200],
    ['https://site.example', 'site.example:3000', 200],
    ['https://site.example/shop', 'site.example', 200],
    ['https://site.example:443', 'site.example', 200],
    ['https://bücher.example', 'xn--bcher-kva.example', 200],
    ['https://site.example', 'www.site.example', 421],
    ['https://site.example:8443', 'site.example:8443', 200],
    ['https://site.example:8443', 'site.example:9443', 421],
    ['https://site.example:8443', 'site.example', 421],
    ['', 'site.example', 421],
  ])('with the public address "%s" responds to "%s" with %i', async (publicUrl, host, status) => {
    expect(await statusOf(host, { publicUrl, allowedHosts: ['10.0.0.7'] })).toBe(status);
  });

  it('serves any name with an empty list', async () => {
    const policy = hostPolicy({ publicUrl: 'https://site.example', allowedHosts: [] });
    const handler = () => Promise.resolve({ status: 200, headers: {}, body: null });
    const refuse = () => ({ status: 421, headers: {}, body: null });
    expect(await behindHostCheck(handler, policy, refuse)(browserRequest())).toMatchObject({ status: 200 });
  });
});

describe('a server for the local machine', () => {
  it.each(words('localhost LOCALHOST:8080 app.localhost:8080 a.b.localhost 127.0.0.1 127.200.0.9:8080 [::1]:8080'))(
    'serves "%s"',
    async (host) => {
      expect(await statusOf(host, { loopback: true })).toBe(200);
    },
  );

  it.each([
    '',
    ...words(`evil.example evil.example:8080 localhost.evil.example evillocalhost localhost. .localhost.evil.example
      127.0.0.1.evil.example 127.evil.example 128.0.0.1 0.0.0.0 10.0.0.7 127.1 2130706433 [::] [::2]
      [::ffff:127.0.0.1]`),
  ])('rejects "%s"', async (host) => {
    expect(await statusOf(host, { loopback: true })).toBe(421);
  });
});
