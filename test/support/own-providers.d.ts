import type { IdentityProvider } from 'agent-bff';

declare module 'agent-bff' {
  /** The providers that tests register. */
  interface OwnProviders {
    demo: IdentityProvider;
    okta: IdentityProvider;
    own: IdentityProvider;
    ping: IdentityProvider;
  }
}
