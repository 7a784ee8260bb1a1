/**
 * Names of `identityProviders` for the compiler, which rejects all other names beside those of this package: as
 * `authProvider`, `serviceAuthStrategy` and the `strategy` of a route. A site adds its own. Default: none.
 *
 * @example
 * ```ts
 * import type { IdentityProvider } from 'agent-bff';
 *
 * declare module 'agent-bff' {
 *   interface OwnProviders {
 *     okta: IdentityProvider;
 *   }
 * }
 * ```
 *
 * @public
 */
// oxlint-disable-next-line typescript/no-empty-interface typescript/no-empty-object-type
export interface OwnProviders {}

/**
 * A name of `OwnProviders`, or an empty text, which clears a field.
 *
 * @public
 */
// oxlint-disable-next-line typescript/no-redundant-type-constituents -- sites add names
export type OwnName = Extract<keyof OwnProviders, string> | '';
