import type { AgentCard } from '@a2a-js/sdk';
import { duplicateInterfacesForLegacy } from '@a2a-js/sdk/compat/v0_3';
import { agentCardHandler } from '@a2a-js/sdk/server/express';
import type { RequestHandler } from 'express';

/** Describes the demo agent at `a2aUrl`; A2A v1.0, and v0.3 at the same address. */
export function createAgentCard(a2aUrl: string): AgentCard {
  return {
    name: 'Demo agent',
    description: 'Repeats what it hears, one word at a time.',
    version: '1.0.0',
    provider: undefined,
    supportedInterfaces: duplicateInterfacesForLegacy(
      [{ url: a2aUrl, protocolBinding: 'JSONRPC', tenant: '', protocolVersion: '1.0' }],
      ['JSONRPC'],
    ),
    capabilities: { streaming: true, pushNotifications: false, extendedAgentCard: false, extensions: [] },
    securitySchemes: {
      serviceAccount: {
        scheme: {
          $case: 'httpAuthSecurityScheme',
          value: {
            scheme: 'Bearer',
            bearerFormat: 'JWT',
            description: 'A token signed by a registered service account.',
          },
        },
      },
    },
    securityRequirements: [{ schemes: { serviceAccount: { list: [] } } }],
    defaultInputModes: ['text/plain', 'application/octet-stream'],
    defaultOutputModes: ['text/plain'],
    skills: [
      {
        id: 'echo',
        name: 'Echo',
        description:
          'Repeats a message; the words slow, file, input, fail and markdown show the other turns a task can take.',
        tags: ['demo'],
        examples: ['Hello there', 'slow', 'file', 'input', 'fail', 'markdown'],
        inputModes: [],
        outputModes: [],
        securityRequirements: [],
      },
    ],
    signatures: [],
  };
}

/** Serves the card without authentication, as agents do: it tells clients which credential is required. */
export function createAgentCardRouter(a2aUrl: string): RequestHandler {
  const card = createAgentCard(a2aUrl);
  return agentCardHandler({ agentCardProvider: async () => card, legacyCompat: { enabled: true } });
}
