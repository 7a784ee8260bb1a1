import type { AgentCard as SdkCard } from '@a2a-js/sdk';
import type { AgentCard as SdkCard03 } from 'a2a-sdk-0.3';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createAgentCard } from '../../../examples/platform/agent-card.js';
import {
  type AgentCardJson,
  isAgentCard,
  namedVersions,
  rewriteAgentCard,
  rewrittenCard,
} from '../../../src/domain/chat/agent-card.js';
import { MethodPolicy } from '../../../src/domain/chat/method-policy.js';

const SITE = 'https://site.example/api/a2a';
const AGENT = 'https://agent.internal/a2a';

/** A v0.2 card from June 2025, without `preferredTransport`. */
const V02 = {
  name: 'Old agent',
  description: 'Speaks v0.2.',
  url: AGENT,
  version: '1.0.0',
  provider: { organization: 'Agents', url: 'https://agents.example' },
  iconUrl: 'https://agents.example/icon.png',
  documentationUrl: 'https://agents.example/docs',
  capabilities: { streaming: true, pushNotifications: true, stateTransitionHistory: true },
  securitySchemes: { key: { type: 'apiKey', in: 'header', name: 'x-key' } },
  security: [{ key: [] }],
  defaultInputModes: ['text/plain'],
  defaultOutputModes: ['text/plain'],
  skills: [{ id: 'echo', name: 'Echo', description: 'Repeats.', tags: ['demo'] }],
  supportsAuthenticatedExtendedCard: true,
};

const V03: SdkCard03 = {
  ...V02,
  protocolVersion: '0.3.0',
  preferredTransport: 'GRPC',
  url: 'grpc://agent.internal:50051',
  additionalInterfaces: [
    { url: 'grpc://agent.internal:50051', transport: 'GRPC' },
    { url: `${AGENT}/rest`, transport: 'HTTP+JSON' },
    { url: AGENT, transport: 'JSONRPC' },
  ],
  securitySchemes: { key: { type: 'apiKey', in: 'header', name: 'x-key' } },
  signatures: [{ protected: 'eyJ', signature: 'c2ln' }],
  skills: [{ id: 'echo', name: 'Echo', description: 'Repeats.', tags: ['demo'], security: [{ key: [] }] }],
};

const V1: SdkCard = {
  ...createAgentCard(AGENT),
  supportedInterfaces: [
    { url: `${AGENT}/rest`, protocolBinding: 'HTTP+JSON', tenant: '', protocolVersion: '1.0' },
    { url: AGENT, protocolBinding: 'JSONRPC', tenant: 'acme', protocolVersion: '1.0' },
    { url: AGENT, protocolBinding: 'JSONRPC', tenant: '', protocolVersion: '0.3' },
    { url: 'grpc://agent.internal', protocolBinding: 'GRPC', tenant: '', protocolVersion: '1.0' },
  ],
  capabilities: { streaming: true, pushNotifications: true, extendedAgentCard: true, extensions: [] },
  signatures: [{ protected: 'eyJ', signature: 'c2ln', header: undefined }],
};

/** The SDK's card for a request without a version: v0.3 on top, v1.0 below. */
const HYBRID = {
  ...V03,
  url: AGENT,
  preferredTransport: 'JSONRPC',
  additionalInterfaces: undefined,
  supportedInterfaces: V1.supportedInterfaces,
};

const json = (card: unknown): AgentCardJson => JSON.parse(JSON.stringify(card)) as AgentCardJson;
const CARDS: readonly (readonly [string, AgentCardJson])[] = [
  ['v0.2', json(V02)],
  ['v0.3', json(V03)],
  ['v1.0', json(V1)],
  ['hybrid', json(HYBRID)],
];

describe.each(CARDS)('a rewritten %s card', (_kind, card) => {
  it('is a valid card without addresses of the agent', () => {
    const rewritten = rewriteAgentCard(card, { url: SITE });
    expect(isAgentCard(card)).toBe(true);
    expect(isAgentCard(rewritten)).toBe(true);
    expect(JSON.stringify(rewritten)).toContain(SITE);
    expect(JSON.stringify(rewritten)).not.toContain('agent.internal');
  });

  it('contains no credential and no signature, including in its skills', () => {
    const text = JSON.stringify(rewriteAgentCard(card, { url: SITE }));
    for (const field of ['signatures', 'securitySchemes', 'securityRequirements', 'security']) {
      expect(text).not.toContain(`"${field}"`);
    }
  });

  it('keeps only its streaming capability under the policy "chat"', () => {
    const { capabilities, supportsAuthenticatedExtendedCard } = rewriteAgentCard(card, { url: SITE });
    expect(capabilities).toMatchObject({ streaming: true, pushNotifications: false });
    expect([undefined, false]).toContain(supportsAuthenticatedExtendedCard);
    expect([undefined, false]).toContain((capabilities as { extendedAgentCard?: boolean }).extendedAgentCard);
  });

  it('keeps its capabilities under the policy "all"', () => {
    const { capabilities, supportsAuthenticatedExtendedCard } = rewriteAgentCard(card, { url: SITE, policy: 'all' });
    expect(capabilities).toEqual(card['capabilities']);
    expect(supportsAuthenticatedExtendedCard).toBe(card['supportsAuthenticatedExtendedCard']);
  });

  it('keeps addresses that are not endpoints, and its skills', () => {
    const rewritten = rewriteAgentCard(card, { url: SITE });
    for (const field of ['iconUrl', 'documentationUrl', 'provider', 'name', 'version', 'protocolVersion']) {
      expect(rewritten[field]).toEqual(card[field]);
    }
    expect(rewritten['skills']).toMatchObject([{ id: 'echo', name: 'Echo', tags: ['demo'] }]);
  });
});

describe('the interfaces of a card', () => {
  it('keep JSON-RPC in order, with tenant and version', () => {
    expect(rewriteAgentCard(json(V1), { url: SITE })['supportedInterfaces']).toEqual([
      { url: SITE, protocolBinding: 'JSONRPC', tenant: 'acme', protocolVersion: '1.0' },
      { url: SITE, protocolBinding: 'JSONRPC', tenant: '', protocolVersion: '0.3' },
    ]);
  });

  it('are recognized when the binding is in another case', () => {
    const card = { name: 'a', supportedInterfaces: [{ url: AGENT, protocolBinding: 'jsonrpc' }] };
    expect(rewriteAgentCard(card, { url: SITE })['supportedInterfaces']).toHaveLength(1);
  });

  it('of v1.0 do not add a top-level address', () => {
    const rewritten = rewriteAgentCard(json(V1), { url: SITE });
    expect(['url' in rewritten, 'preferredTransport' in rewritten]).toEqual([false, false]);
  });

  it('of another binding remain when the site serves it', () => {
    const bindings = ['JSONRPC', 'HTTP+JSON'];
    const { supportedInterfaces } = rewriteAgentCard(json(V1), { url: SITE, bindings });
    expect(supportedInterfaces).toMatchObject([{ protocolBinding: 'HTTP+JSON', url: SITE }, {}, {}]);
    const card = { ...json(V03), preferredTransport: 'HTTP+JSON' };
    expect(rewriteAgentCard(card, { url: SITE, bindings })['preferredTransport']).toBe('HTTP+JSON');
  });

  it("of another binding remain only on the agent's origin", () => {
    const rewrite = { url: SITE, bindings: ['JSONRPC', 'HTTP+JSON'] };
    const told = (card: AgentCardJson, agentOrigin: string) =>
      JSON.stringify(rewriteAgentCard(card, { ...rewrite, agentOrigin }));
    for (const card of [json(V1), json(V03), json(HYBRID)]) {
      expect(told(card, 'https://AGENT.internal:443')).toContain('HTTP+JSON');
      for (const origin of ['http://agent.internal', 'https://agent.internal:8443', 'https://other.internal']) {
        expect(told(card, origin)).not.toContain('HTTP+JSON');
        expect(told(card, origin)).toContain('JSONRPC');
      }
    }
    for (const url of ['', '/rest', 7, undefined]) {
      const offers = [
        { url: AGENT, protocolBinding: 'JSONRPC' },
        { url, protocolBinding: 'HTTP+JSON' },
      ];
      expect(told({ name: 'a', supportedInterfaces: offers }, AGENT)).not.toContain('HTTP+JSON');
    }
  });

  it('of JSON-RPC remain at any address', () => {
    const card = { name: 'a', supportedInterfaces: [{ url: 'https://public.example', protocolBinding: 'JSONRPC' }] };
    expect(rewriteAgentCard(card, { url: SITE, agentOrigin: 'http://10.0.0.7' })['supportedInterfaces']).toHaveLength(
      1,
    );
  });

  it.each([
    ['the preferred one', 'HTTP+JSON', AGENT, ['JSONRPC'], 'HTTP+JSON'],
    ['JSON-RPC over one on another origin', 'HTTP+JSON', 'https://elsewhere.example', ['JSONRPC'], 'JSONRPC'],
    ['JSON-RPC over one that the site does not serve', 'GRPC', AGENT, ['HTTP+JSON', 'JSONRPC'], 'JSONRPC'],
    ['another one when the card lacks JSON-RPC', 'GRPC', AGENT, ['HTTP+JSON'], 'HTTP+JSON'],
  ])('prefer %s', (_what, preferredTransport, url, others, expected) => {
    const additionalInterfaces = others.map((transport) => ({ url: AGENT, transport }));
    const card = { name: 'a', url, preferredTransport, additionalInterfaces };
    const rewrite = { url: SITE, bindings: ['JSONRPC', 'HTTP+JSON'], agentOrigin: AGENT };
    expect(rewriteAgentCard(card, rewrite)['preferredTransport']).toBe(expected);
  });

  it.each([
    ['only other bindings in v1.0', { name: 'a', supportedInterfaces: [{ url: AGENT, protocolBinding: 'GRPC' }] }],
    ['only another binding in v0.3', { name: 'a', url: AGENT, preferredTransport: 'HTTP+JSON' }],
    ['no interface at all', { name: 'a', supportedInterfaces: [null, 'x', {}] }],
  ])('are rejected when none is usable: %s', (_what, card) => {
    expect(() => rewriteAgentCard(card, { url: SITE })).toThrow(
      expect.objectContaining({
        code: 'agent_binding_unsupported',
        detail: 'The agent has no JSON-RPC interface, the only one this site can forward to.',
        hint: 'Enable the JSONRPC binding on the agent, and set "a2aUrl" in configureServer to its address.',
        block: 'configureServer',
        fields: ['a2aUrl'],
      }),
    );
  });
});

describe('the capabilities of a card', () => {
  const capabilities = { streaming: true, pushNotifications: true, extendedAgentCard: true };
  const card = { name: 'a', url: AGENT, capabilities, supportsAuthenticatedExtendedCard: true };

  it.each([
    [['SendMessage'], { streaming: false, pushNotifications: false, extendedAgentCard: false }, false],
    [['message/stream'], { streaming: true, pushNotifications: false, extendedAgentCard: false }, false],
    [
      ['tasks/pushNotificationConfig/set'],
      { streaming: false, pushNotifications: true, extendedAgentCard: false },
      false,
    ],
    [['GetExtendedAgentCard'], { streaming: false, pushNotifications: false, extendedAgentCard: true }, true],
  ])('are limited to the methods %j', (policy, told, extended) => {
    const expected = { capabilities: told, supportsAuthenticatedExtendedCard: extended };
    expect(rewriteAgentCard(card, { url: SITE, policy })).toMatchObject(expected);
    expect(rewrittenCard(card, { url: SITE, policy: new MethodPolicy(policy) })).toMatchObject(expected);
  });

  it('remain absent when the agent omits them', () => {
    const silent = rewriteAgentCard({ name: 'a', url: AGENT, capabilities: {} }, { url: SITE });
    expect(silent).toEqual({ name: 'a', url: SITE, preferredTransport: 'JSONRPC', capabilities: {} });
  });
});

describe('any rewritten card', () => {
  const EDITED = ['signatures', 'securitySchemes', 'securityRequirements', 'security', 'url', 'preferredTransport'];
  const LISTED = ['supportedInterfaces', 'additionalInterfaces', 'skills', 'capabilities'];
  // An address on a private host would be removed.
  const value = fc.jsonValue().filter((json) => !/[/\\]{2}|(?:https?|wss?|ftp):/i.test(JSON.stringify(json)));
  const unknown = fc.dictionary(
    fc.oneof(
      fc.string().filter((name) => !name.includes('//')),
      fc.constantFrom('streaming', 'transport', 'x-vendor', '__proto__'),
    ),
    value,
  );
  const offer = fc.tuple(unknown, fc.constantFrom('JSONRPC', 'HTTP+JSON', 'GRPC')).map(([fields, binding]) => ({
    ...fields,
    url: `${AGENT}/${binding}`,
    protocolBinding: binding,
  }));
  const anyCard = fc
    .record({
      fields: unknown,
      offers: fc.array(offer, { maxLength: 4 }),
      capabilities: unknown,
      skills: fc.array(fc.oneof(unknown, value), { maxLength: 3 }),
      known: fc.constantFrom(...CARDS.map(([, card]) => card)),
    })
    .map(({ fields, offers, capabilities, skills, known }): AgentCardJson => {
      const { supportedInterfaces = [] } = known as { supportedInterfaces?: unknown[] };
      return {
        ...fields,
        ...known,
        capabilities,
        skills,
        supportedInterfaces: [...supportedInterfaces, ...offers, { url: AGENT, protocolBinding: 'JSONRPC' }],
      };
    });

  it('keeps unknown fields, does not modify the original, has no endpoint outside the site, and is unchanged by a second rewrite', () => {
    fc.assert(
      fc.property(anyCard, fc.constantFrom('chat' as const, 'all' as const), (card, policy) => {
        const before = JSON.stringify(card);
        const rewritten = rewriteAgentCard(card, { url: SITE, policy });
        expect(JSON.stringify(card)).toBe(before);

        for (const [name, value] of Object.entries(card)) {
          if ([...EDITED, ...LISTED, 'supportsAuthenticatedExtendedCard'].includes(name)) continue;
          expect(Object.getOwnPropertyDescriptor(rewritten, name)?.value).toEqual(value);
        }
        const offers = ['supportedInterfaces', 'additionalInterfaces'].flatMap(
          (field) => (rewritten[field] ?? []) as { url: unknown; protocolBinding?: string; transport?: string }[],
        );
        expect(offers.length).toBeGreaterThan(0);
        for (const { url, protocolBinding, transport } of offers) {
          expect([url, protocolBinding ?? transport]).toEqual([SITE, 'JSONRPC']);
        }
        if ('url' in card) expect(rewritten['url']).toBe(SITE);
        expect(rewriteAgentCard(rewritten, { url: SITE, policy })).toEqual(rewritten);
      }),
    );
  });
});

describe('the options of rewriteAgentCard', () => {
  it.each<[object, string, string]>([
    [{}, 'Missing option "url" of rewriteAgentCard.', 'Set it to a string.'],
    [
      { url: SITE, policy: 'none' },
      'Invalid value for "policy" of rewriteAgentCard.',
      'Set it to "chat", "all", or a list of methods.',
    ],
  ])('are checked: %j', (options, detail, hint) => {
    expect(() => rewriteAgentCard(json(V02), options as { url: string })).toThrow(
      expect.objectContaining({ code: 'configuration_invalid', detail, hint }),
    );
  });
});

describe('an agent card', () => {
  it('names the versions of its interfaces, without those that it leaves out', () => {
    const supportedInterfaces = [{ protocolVersion: '1.0' }, {}, { protocolVersion: '0.3' }];
    expect(namedVersions({ protocolVersion: '', supportedInterfaces })).toEqual(['1.0', '0.3']);
  });

  it.each([null, 1, 'card', [], {}, { name: 'a' }, { url: AGENT }, { name: 1, url: AGENT }, { name: 'a', url: 1 }])(
    'cannot be %j',
    (value) => {
      expect(isAgentCard(value)).toBe(false);
    },
  );
});
