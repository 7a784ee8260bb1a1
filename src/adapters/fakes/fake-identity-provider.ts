import type { Identity, IdentityProvider, IssueOutcome } from '../../ports/identity-provider.js';

/**
 * An identity provider whose tokens are numbered and that may be replaced.
 *
 * @public
 */
export class FakeIdentityProvider implements IdentityProvider {
  /** The configuration block its failures name. */
  readonly block: string;
  /** How often a token was asked for. */
  issued = 0;
  /** Life of each token in milliseconds. */
  lifeMs = 300_000;
  /** Gives something else than a token, while it is set. */
  answer: ((now: number) => IssueOutcome | Promise<IssueOutcome>) | undefined;
  /** Its principal, together with `block`. */
  name: string;
  /** Its proof. */
  proof = '';

  constructor(name = 'fake', block = 'fakeProvider') {
    this.name = name;
    this.block = block;
  }

  /** Its block and name, and its proof, so that tests can change them. */
  identity(): Identity | Promise<Identity> {
    return { principal: JSON.stringify([this.block, this.name]), proof: this.proof };
  }

  /** A numbered token, or `answer`. */
  async issue(now: number): Promise<IssueOutcome> {
    this.issued += 1;
    const number = this.issued;
    if (this.answer !== undefined) return this.answer(now);
    return { kind: 'token', token: { value: `${this.name}-token-${String(number)}`, expiresAt: now + this.lifeMs } };
  }
}
