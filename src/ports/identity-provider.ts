import type { Identity } from './identity.js';

/**
 * What an identity provider gives: a token for calls to the platform, or a failure that names the fields to check.
 *
 * @public
 */
export type IssueOutcome =
  | {
      readonly kind: 'token';
      readonly token: {
        /** The token as it is sent, without `Bearer`. */
        readonly value: string;
        /** Milliseconds since the epoch. */
        readonly expiresAt: number;
      };
    }
  | {
      readonly kind: 'failure';
      /**
       * - `incomplete`: the configuration lacks a field; nobody was asked
       * - `refused`: the provider, or the key, said no; asking again changes nothing
       * - `unavailable`: the provider could not be reached or was out of order
       */
      readonly reason: 'incomplete' | 'refused' | 'unavailable';
      /** The configuration block to check, such as `idpAServiceUser`. */
      readonly block: string;
      /** The fields of that block to check. */
      readonly fields: readonly string[];
      /** What the reader should do, in one sentence; public, so it names blocks and fields only. */
      readonly advice: string;
      /** For the server's log only: provider texts, paths and codes, without secrets. */
      readonly detail: string;
      /** How long the provider asked to be left alone, in milliseconds. */
      readonly retryAfterMs?: number;
    };

export type AccessToken = Extract<IssueOutcome, { readonly kind: 'token' }>['token'];

export type IssueFailure = Extract<IssueOutcome, { readonly kind: 'failure' }>;

/**
 * Gives tokens for the site's own calls to the platform.
 * Callers cache and coalesce; a provider answers every call by asking once.
 *
 * @public
 */
export interface IdentityProvider {
  /** The configuration block named in hints when nothing closer is known, such as `serviceAccount`. */
  readonly block: string;
  /** Whether `issue` signs by itself, so that the caller's `now` ends up in the token. Default: false. */
  readonly signsLocally?: boolean;
  /** The platform refused a token: look again at whatever credentials are read from, such as a key file. */
  recheck?(): void;
  /** Whose tokens it gives, and the proof it gives them by. Called before a token is requested, never for a cached one; may look at a key file again. */
  identity(): Identity | Promise<Identity>;
  /** Never throws for a refusal. `now` is milliseconds since the epoch. */
  issue(now: number): Promise<IssueOutcome>;
}
