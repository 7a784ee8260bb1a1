import { redactor } from '../../domain/shared/redaction.js';
import { currentSecrets } from './request-scope.js';

/** What takes secrets out of the texts of events. */
export class RedactedTelemetry {
  readonly #secrets = new Set<string>();
  /** The text without the secrets of the configuration. */
  protected redactor: ReturnType<typeof redactor> = redactor([]);

  /** `secrets`: every secret of the configuration, as it would stand in a text. */
  constructor(secrets: readonly string[]) {
    this.#add(secrets);
  }

  /** Takes out the secrets of another configuration too; those of before may still stand in a text. */
  learn(secrets: readonly string[]): void {
    this.#add(secrets);
  }

  /** The text as an event would have it, also without these secrets. Half a secret is recognised by nobody: what is to be shortened is redacted first. */
  redact(text: string, secrets: readonly string[]): string {
    return this.redactor(text, [...secrets, ...currentSecrets()]);
  }

  #add(secrets: readonly string[]): void {
    for (const secret of secrets) this.#secrets.add(secret);
    this.redactor = redactor([...this.#secrets]);
  }
}
