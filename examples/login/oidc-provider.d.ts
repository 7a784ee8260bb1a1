// oidc-provider has no types: only the parts used here are declared.
declare module 'oidc-provider' {
  import type { EventEmitter } from 'node:events';
  import type { IncomingMessage, ServerResponse } from 'node:http';

  export interface Client {
    readonly clientId: string;
    readonly clientSecretExpiresAt?: number;
    compareClientSecret(actual: string): Promise<boolean>;
  }

  export interface Context {
    status: number;
    body: unknown;
    readonly path: string;
    readonly oidc: {
      readonly route: string;
      readonly params: Record<string, string | undefined>;
      readonly client: Client;
      readonly entities: { readonly Client?: Client };
      readonly provider: Provider;
      readonly session?: { readonly accountId: string | undefined };
    };
  }

  export interface Interaction {
    readonly uid: string;
    readonly params: Record<string, unknown>;
  }

  interface Token {
    scope: string | undefined;
    resourceServer: unknown;
    readonly expiration: number;
    save(): Promise<string>;
  }

  interface Grant {
    addOIDCScope(scope: string): void;
    save(): Promise<string>;
  }

  export class Provider extends EventEmitter {
    static readonly ctx: Context | undefined;
    constructor(issuer: string, configuration: object);
    readonly issuer: string;
    readonly AccessToken: new (properties: object) => Token;
    readonly ClientCredentials: new (properties: object) => Token;
    readonly Grant: new (properties: object) => Grant;
    readonly ResourceServer: new (identifier: string, data: object) => unknown;
    readonly Client: {
      new (metadata: object, context: Context | undefined): Client;
      find(id: string): Promise<Client | undefined>;
    };
    readonly ReplayDetection: { unique(issuer: string, id: string, expiresAt: number): Promise<boolean> };
    registerGrantType(name: string, handler: (context: Context) => Promise<void>, parameters: readonly string[]): void;
    use(middleware: (context: Context, next: () => Promise<void>) => Promise<void>): void;
    on(event: 'grant.success', listener: (context: Context) => void): this;
    on(event: 'server_error', listener: (context: Context, error: Error) => void): this;
    /** The details of a pending interaction; throws if its cookie is missing. */
    interactionDetails(request: IncomingMessage, response: ServerResponse): Promise<Interaction>;
    /** Redirects the visitor with the result. */
    interactionFinished(
      request: IncomingMessage,
      response: ServerResponse,
      result: { readonly login: { readonly accountId: string } },
    ): Promise<void>;
    callback(): (request: IncomingMessage, response: ServerResponse) => void;
  }

  export const errors: {
    readonly CustomOIDCProviderError: new (error: string, description: string) => Error;
    readonly InvalidClientAuth: new (detail: string) => Error;
  };
}
