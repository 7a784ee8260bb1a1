import { describe, expect, it } from 'vitest';
import { type AgentCardRewrite, rewriteAgentCard } from '../../../src/domain/chat/agent-card.js';
import { processorTime } from '../../support/stopwatch.js';

const CARD = {
  name: 'Agent',
  description: 'See https://10.0.0.1/docs.',
  url: 'https://agent.corp.example/a2a',
  version: '1.0.0.1',
};
const rewrite: AgentCardRewrite = {
  url: 'https://site.example/api/a2a',
  agentOrigin: 'https://agent.corp.example',
  platformOrigin: 'https://platform.corp.example:8443',
};
const documentation = (documentationUrl: unknown): unknown =>
  rewriteAgentCard({ ...CARD, documentationUrl }, rewrite)['documentationUrl'];

describe('the addresses of a card', () => {
  it.each([
    'https://agent.corp.example/docs',
    'http://AGENT.corp.example.:81/docs',
    'agent.corp.example:50051',
    'https://platform.corp.example/icon.png',
    'wss://platform.corp.example',
    'grpc://platform.corp.example:443',
    '//agent.corp.example/docs',
    '  https:\\\\agent.corp.example\\docs',
    '  http:/wiki/page',
    'http:/wi\tki/page',
    'grpc://wiki',
    'http:/agent.corp.example/docs',
    'ws:agent.corp.example',
    'http:agent.corp.example/a.b',
    'http:wiki/page',
    'ws:wiki/page',
    'ht\ttps://agent.corp.example/docs',
    'https://user@agent.corp.example/',
    'http://localhost:3000/',
    'http://app.localhost/',
    'http://wiki/',
    'grpc://WIKI.:80?x',
    'http://xn--bcher-kva.local',
    'http://a_b.local:70/',
    'http://intranet/',
    'https://wiki.internal/',
    'http://printer.local',
    'http://home.arpa/',
    'http://router.home.arpa/',
    'http://10.1.2.3/',
    'http://172.16.0.1/',
    'http://172.31.0.1/',
    'http://192.168.0.1/',
    'http://127.1/',
    'http://2130706433/',
    'http://0x7f.0.0.1/',
    'http://0177.0.0.1/',
    'http://１２７.0.0.1/',
    'http://169.254.169.254/latest',
    'http://100.64.0.1/',
    'http://192.0.0.1/',
    'http://198.18.0.1/',
    'http://198.19.255.255/',
    'http://0.0.0.0/',
    'http://224.0.0.1/',
    'http://[::1]/',
    'http://[::]/',
    'http://[::ffff:10.0.0.1]/',
    'http://[::ffff:7f00:1]/',
    'http://[::ffff:0:10.0.0.1]/',
    'http://[::10.0.0.1]/',
    'http://[fd00::1]/',
    'http://[fe80::1]/',
    'http://[ff00::1]/',
    'http://[64:ff9b::10.0.0.1]/',
    'http://[64:ff9b:1::8.8.8.8]/',
    'http://[2002:a00:1::]/',
    '10.0.0.10:8080',
    '10.0.0.10.',
    'db.internal.:5432',
    ' agent.corp.example:50051 ',
    'db.internal/path',
    '[fd00::1]:50051',
    'ipv6:[fd00::1]',
    'ipv4:10.0.0.1:50051,10.0.0.2:50051',
    '0x7f.0.0.1',
    'localhost:3000',
    'agent.corp.example?x=1',
    'agent.corp.example#x',
    'agent.corp.example:/x',
    'agent.corp.example\\x',
    'dns:agent.corp.example:443',
    'did:web:agent.corp.example',
    'user@agent.corp.example/x',
    'user@agent.corp.example:443',
    'user:7@agent.corp.example',
    'https://docs.example/?u=https://agent.corp.example/',
    'https://docs.example/?u=https%3a%2F%2Fme@agent.corp.example%2F',
    'https://docs.example, http://10.0.0.1/',
    'see <HTTP:\\\\AGENT.corp.example>',
    'jdbc:postgresql://[fd00::1]:5432/x',
    'http://10.0.0.1:{port}/',
  ])('omit %s', (address) => {
    expect(documentation(address)).toBeUndefined();
  });

  it.each([
    'https://docs.example/agent',
    'https://corp.example/',
    'https://other-agent.corp.example/',
    'https://site.example/docs',
    'http://172.15.0.1/',
    'http://172.32.0.1/',
    'http://100.63.0.1/',
    'http://100.128.0.1/',
    'http://169.253.0.1/',
    'http://192.0.2.1/',
    'http://192.1.0.1/',
    'http://198.20.0.1/',
    'http://8.18.0.1/',
    'http://8.8.8.8/',
    'http://[2606:4700::1111]/',
    'http://[2606:4700::ffff:10.0.0.1]/',
    'http://[2606:4700::ffff:0:10.0.0.1]/',
    'http://[2606:ff9b::10.0.0.1]/',
    'http://[::1:a00:1]/',
    'http://[::1:0:a00:1]/',
    'http://[::ffff:1:a00:1]/',
    'http://[64:1::a00:1]/',
    'http://[2606:a00:1::]/',
    'http://[::ffff:8.8.8.8]/',
    'http://[64:ff9b::8.8.8.8]/',
    'http://[2002:808:808::]/',
    'https://10.docs.host1/',
    'https://local.example/',
    'https://localhost.example/',
    '/docs',
    'docs/agent.html',
    'data:image/png;base64,AAAA',
    'data:text/html,https://docs.example',
    'data:image/png;base64,AA//wiki/',
    'https://docs.example//wiki/?u=https://www.example/',
    String.raw`^https?://\w+`,
    'http://',
    'mailto:help@agent.corp.example',
    'text/plain',
    'localhost',
    '1.2.3',
    '10.0.0.256',
    'user.home is read first',
    'count:10',
    '10:30',
    '10.2.3',
    '10.2.3.',
    'localhosts:1',
    'xlocalhost:1',
    'package@10.2.3',
    'application/json',
    'urn:isbn:0451450523',
    'gpt-4.1',
    'help@agent.corp.example',
    '[1]',
    '',
    7,
    null,
  ])('include %s', (address) => {
    expect(documentation(address)).toBe(address);
  });

  it.each(['name', 'description', 'id', 'version', 'protocolVersion', 'tags', 'examples'])(
    'include those in text for people, or in names: %s',
    (member) => {
      expect(rewriteAgentCard({ ...CARD, [member]: 'db.internal' }, rewrite)[member]).toBe('db.internal');
      expect(rewriteAgentCard({ ...CARD, [member]: { url: 'db.internal' } }, rewrite)[member]).toEqual({});
      const mixed = ['text', { url: 'db.internal' }];
      expect(rewriteAgentCard({ ...CARD, [member]: mixed }, rewrite)[member]).toEqual(['text', {}]);
    },
  );

  it('are removed from all members, including those on hosts of removed interfaces', () => {
    const card = {
      ...CARD,
      iconUrl: 'https://hidden.example/icon.png',
      provider: { organization: 'Corp', url: 'https://www.example', logo: 'http://10.0.0.1/' },
      additionalInterfaces: [{ url: 'https://hidden.example/rest', transport: 'GRPC' }],
      skills: [
        {
          id: 'a',
          name: 'https://10.0.0.1',
          examples: ['http://10.0.0.1/ is down'],
          links: ['http://10.0.0.1/', 'https://www.example'],
        },
      ],
      capabilities: {
        extensions: [{ uri: 'https://agent.corp.example/ext/1', params: { uri: 'http://10.0.0.1/', size: 3 } }],
      },
    };
    expect(rewriteAgentCard(card, rewrite)).toEqual({
      ...CARD,
      url: rewrite.url,
      preferredTransport: 'JSONRPC',
      additionalInterfaces: [],
      provider: { organization: 'Corp', url: 'https://www.example' },
      skills: [
        { id: 'a', name: 'https://10.0.0.1', examples: ['http://10.0.0.1/ is down'], links: ['https://www.example'] },
      ],
      capabilities: { extensions: [{ uri: 'https://agent.corp.example/ext/1', params: { size: 3 } }] },
    });
  });

  it('are removed where they are names of members, such as in a list of servers', () => {
    const servers = {
      'https://agent.corp.example/a2a': {},
      '//10.0.0.1/': {},
      'https://docs.example/': {},
      'a.local': 1,
    };
    const shown = rewriteAgentCard({ ...CARD, servers }, rewrite)['servers'];
    expect(shown).toEqual({ 'https://docs.example/': {}, 'a.local': 1 });
  });

  it('are searched for in linear time', () => {
    const text = '://['.repeat(250_000);
    expect(documentation(text)).toBe(text);
  });

  it("are 5,000 at most, with the agent's own; every text after them is omitted", () => {
    const links = Array.from({ length: 5_000 }, (_, index) => `https://docs${String(index)}.example/`);
    const { before, shown, after } = rewriteAgentCard({ ...CARD, before: 'x', shown: links, after: 'x' }, rewrite);
    expect({ before, shown, after }).toEqual({ before: 'x', shown: links.slice(0, 4_999), after: undefined });
  });

  it.each([
    ['one text of names', '://a.b '.repeat(140_000)],
    ['one text of numbers', '://1.2 '.repeat(140_000)],
    ["one text of the site's name", '://site.example '.repeat(60_000)],
    ['a text of names in percent-encoding', '%3a%2f%2fa.b '.repeat(75_000)],
    ['names with a port', Array.from({ length: 19_000 }, (_, index) => `h${String(index)}.example:443`)],
    ['addresses', Array.from({ length: 19_000 }, (_, index) => `https://h${String(index)}.example/`)],
  ])('cost little even in a card of 1 MB: %s', (_what, texts) => {
    const times = Array.from({ length: 6 }, () => processorTime(() => documentation(texts)));
    // Under 30 ms unless garbage collection runs in between.
    expect(Math.min(...times)).toBeLessThan(60);
  });

  it('omit a host without a dot only where a port follows', () => {
    const links = ['agent:50051', 'dns:agent:80', 'me@agent:', 'agent', 'agent/v1', 'other:80', 'localhost'];
    const { links: shown } = rewriteAgentCard({ ...CARD, links }, { ...rewrite, agentOrigin: 'http://agent:8080' });
    expect(shown).toEqual(['agent', 'agent/v1', 'other:80', 'localhost']);
  });

  it('omit a provider whose address is removed', () => {
    const provider = { organization: 'Corp', url: 'http://10.0.0.1/' };
    expect(rewriteAgentCard({ ...CARD, provider }, rewrite)).not.toHaveProperty('provider');
  });

  it("include those on the site's own origin", () => {
    const own = { url: 'http://localhost:3000/api/a2a', agentOrigin: 'http://localhost:4000' };
    const shown = { iconUrl: 'http://localhost:3000/icon.png', help: 'https://docs.example/?u=http://localhost:3000/' };
    const card = { ...CARD, ...shown, documentationUrl: 'http://localhost:4000/docs' };
    const { iconUrl, help, documentationUrl } = rewriteAgentCard(card, own);
    expect({ iconUrl, help, documentationUrl }).toEqual({ ...shown, documentationUrl: undefined });
  });
});
