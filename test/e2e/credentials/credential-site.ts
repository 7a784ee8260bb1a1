import { createToolkit, type ServerConfig, type Toolkit, type ToolkitPorts, type ChatHandlerOptions } from 'agent-bff';
import { createA2ARouter } from 'agent-bff/express';
import { RecordingTelemetry } from 'agent-bff/testing';
import express from 'express';
import { onTestFinished } from 'vitest';
import { listeningSite } from '../../site/frameworks/listening-site.js';
import type { IdpA, IdpB, TrustingFetch } from '../../support/identity-provider/index.js';
import { RecordingUpstream, type RecordedRequest } from '../../support/recording-upstream.js';
import { visit, type VisitOptions } from '../../support/visitor.js';

/** A complete response of the chat route. */
export interface ChatAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: string;
}

/** An Express site, its agent and the telemetry of both. */
export interface CredentialSite {
  readonly url: string;
  readonly agent: RecordingUpstream;
  readonly telemetry: RecordingTelemetry;
  readonly toolkit: Toolkit;
  /** Sends one chat message and reads the whole response. */
  chat(options?: VisitOptions): Promise<ChatAnswer>;
  /** The distinct tokens that reached the agent, in order of arrival. */
  tokens(): string[];
}

/** Options of a site besides its configuration. */
export interface CredentialSiteOptions {
  readonly ports?: ToolkitPorts;
  /** The options of each mount, at `/api/a2a` and `/api/a2a-2`. Default: one mount without options. */
  readonly routes?: readonly ChatHandlerOptions[];
}

/** Starts a site with its own toolkit. Both are closed after the test. */
export async function startSite(
  config: ServerConfig,
  { ports = {}, routes = [{}] }: CredentialSiteOptions = {},
): Promise<CredentialSite> {
  const agent = await RecordingUpstream.start();
  const telemetry = new RecordingTelemetry();
  const toolkit = createToolkit(
    {
      a2aUrl: `${agent.origin}/a2a`,
      serviceApiUrl: 'https://platform.example/api',
      keepAliveMs: 0,
      conversations: 'open',
      ...config,
    },
    { telemetry, random: () => 0, ...ports },
  );
  const app = express();
  routes.forEach((options, index) => {
    app.use(
      index === 0 ? '/api/a2a' : `/api/a2a-${String(index + 1)}`,
      createA2ARouter(express, { toolkit, ...options }),
    );
  });
  const site = await listeningSite(app);
  onTestFinished(async () => {
    await site.close();
    await agent.close();
    await toolkit.close();
  });
  return {
    url: site.url,
    agent,
    telemetry,
    toolkit,
    chat: (options) => chatAt(site.url, options),
    tokens: () => [...new Set(agent.requests.map(bearerOf))],
  };
}

/** Sends one chat message to a site and reads the whole response. */
export async function chatAt(url: string, options?: VisitOptions): Promise<ChatAnswer> {
  const reply = await visit(url, options);
  return { status: reply.status, headers: reply.headers, body: await reply.text() };
}

/** The token in a request to the agent, or an empty string. */
export function bearerOf({ fields }: RecordedRequest): string {
  const value = fields.find(([name]) => name === 'authorization')?.[1] ?? '';
  return value.replace(/^Bearer /, '');
}

/** An error response of the chat route, as an A2A client reads it. */
export interface Failure {
  readonly code: string;
  readonly message: string;
  readonly block: string;
  readonly fields: readonly string[];
  readonly retryable: boolean;
}

/** Reads an error response. */
export function failureOf({ body }: ChatAnswer): Failure {
  const { error } = JSON.parse(body) as {
    error: { message: string; data: { metadata: Record<string, string | undefined> }[] };
  };
  const { code = '', configBlock = '', fields = '', retryable } = error.data[0]?.metadata ?? {};
  return {
    code,
    message: error.message,
    block: configBlock,
    fields: fields === '' ? [] : fields.split(','),
    retryable: retryable === 'true',
  };
}

/** The `fetch` of a test provider, in the form a site configures it. */
export function identityFetch({ fetch }: TrustingFetch): { readonly identityFetch: typeof globalThis.fetch } {
  return { identityFetch: fetch as typeof globalThis.fetch };
}

/** The configuration of the password grant at the Auth0-like provider. */
export function passwordGrant(idp: IdpA): ServerConfig {
  const { domain, client, audience, user } = idp;
  return {
    serviceAuthStrategy: 'resource_owner_password',
    authProvider: 'idp_a',
    idpA: { domain, clientId: client.id, clientSecret: client.secret, audience },
    idpAServiceUser: { ...user },
  };
}

/** The configuration of client credentials with a secret at the Entra-like provider. */
export function applicationSecret(idp: IdpB): ServerConfig {
  const { tenantId, client, scope } = idp;
  return {
    serviceAuthStrategy: 'client_credentials',
    authProvider: 'idp_b',
    idpBService: { tenantId, clientId: client.id, clientSecret: client.secret, scope },
  };
}
