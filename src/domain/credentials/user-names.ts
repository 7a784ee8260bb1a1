import type { SessionToken, SessionTokenSource } from '../../ports/session-token-source.js';
import type { Telemetry } from '../../ports/telemetry.js';

/** The parts that users' names need. */
export interface UserNamesDependencies {
  /** The session sources of all routes that keep something for users; one that is added later counts from then on. */
  readonly sources: () => Iterable<SessionTokenSource>;
  readonly telemetry: Telemetry;
}

type FoundToken = Extract<SessionToken, { kind: 'token' }>;

/**
 * Names users. A subject names a user only at its issuer, or in a source that has a name: user 1 of the staff is not user 1 of the shop.
 * A bare subject, with neither, is a name while no other source can give bare subjects too.
 */
export class UserNames {
  readonly #deps: UserNamesDependencies;
  /** True once a source gave a bare subject; absent before its first token. */
  readonly #isBare = new Map<SessionTokenSource, boolean>();
  #hasWarned = false;

  constructor(dependencies: UserNamesDependencies) {
    this.#deps = dependencies;
  }

  /** A stable name of the user of this token, alike in every process; `undefined` when there is none. */
  nameOf(source: SessionTokenSource, { subject, issuer }: FoundToken): readonly string[] | undefined {
    if (!isGiven(subject)) return this.#noted(source, undefined);
    if (isGiven(issuer)) return this.#noted(source, ['issuer', issuer, subject]);
    if (isGiven(source.name)) return ['source', source.name, subject];
    if (this.#isBare.get(source) !== true) this.#isBare.set(source, true);
    if (!this.#hasRival(source)) return ['subject', subject];
    this.#warn();
    return undefined;
  }

  /** A source that begins without bare subjects is believed to go on so. */
  #noted(source: SessionTokenSource, name: readonly string[] | undefined): readonly string[] | undefined {
    if (!this.#isBare.has(source)) this.#isBare.set(source, false);
    return name;
  }

  #hasRival(source: SessionTokenSource): boolean {
    let isListed = false;
    let hasRival = false;
    for (const other of this.#deps.sources()) {
      if (other === source) isListed = true;
      else if (!isGiven(other.name) && this.#isBare.get(other) !== false) hasRival = true;
    }
    return isListed && hasRival;
  }

  #warn(): void {
    if (this.#hasWarned) return;
    this.#hasWarned = true;
    this.#deps.telemetry.emit({
      type: 'warning',
      code: 'session_source_unnamed',
      detail:
        'Nothing is cached for signed-in users: several session sources give subjects without an issuer, and two users may have the same one. Give each source a "name", such as "staff".',
    });
  }
}

function isGiven(text: string | undefined): text is string {
  return text !== undefined && text !== '';
}
