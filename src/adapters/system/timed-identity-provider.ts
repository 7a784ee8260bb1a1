import type { IdentityProvider, IssueOutcome } from '../../ports/identity-provider.js';
import { DeadlineError, inTime } from './deadline.js';

/** A provider whose callers do not wait for ever: one that never settles is out of order. */
export class TimedIdentityProvider implements IdentityProvider {
  readonly block: string;
  readonly signsLocally: boolean;
  readonly #provider: IdentityProvider;
  readonly #ms: number;

  /** At most so many milliseconds for each call. */
  constructor(provider: IdentityProvider, ms: number) {
    this.block = provider.block;
    this.signsLocally = provider.signsLocally === true;
    this.#provider = provider;
    this.#ms = ms;
  }

  recheck(): void {
    this.#provider.recheck?.();
  }

  async fingerprint(): Promise<string> {
    return inTime(this.#provider.fingerprint(), this.#ms, 'the identity provider');
  }

  async issue(now: number): Promise<IssueOutcome> {
    try {
      return await inTime(this.#provider.issue(now), this.#ms, 'the identity provider');
    } catch (error) {
      if (!(error instanceof DeadlineError)) throw error;
      return {
        kind: 'failure',
        reason: 'unavailable',
        block: this.block,
        fields: [],
        advice: `Check the "${this.block}" configuration block.`,
        detail: error.message,
      };
    }
  }
}
