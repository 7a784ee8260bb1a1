// oidc-provider ships no types: only what the doubles in this folder use is declared.
declare module 'oidc-provider' {
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
    };
  }

  interface Token {
    scope: string | undefined;
    resourceServer: unknown;
    readonly expiration: number;
    save(): Promise<string>;
  }

  export class Provider {
    static readonly ctx: Context | undefined;
    constructor(issuer: string, configuration: object);
    readonly issuer: string;
    readonly AccessToken: new (properties: object) => Token;
    readonly ClientCredentials: new (properties: object) => Token;
    readonly ResourceServer: new (identifier: string, data: object) => unknown;
    readonly Client: {
      new (metadata: object, context: Context | undefined): Client;
      find(id: string): Promise<Client | undefined>;
    };
    readonly ReplayDetection: { unique(issuer: string, id: string, expiresAt: number): Promise<boolean> };
    registerGrantType(name: string, handler: (context: Context) => Promise<void>, parameters: readonly string[]): void;
    use(middleware: (context: Context, next: () => Promise<void>) => Promise<void>): void;
    callback(): (request: IncomingMessage, response: ServerResponse) => void;
  }

  export const errors: {
    readonly CustomOIDCProviderError: new (error: string, description: string) => Error;
    readonly InvalidClientAuth: new (detail: string) => Error;
  };
}
