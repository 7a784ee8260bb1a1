import type { IncomingHttpHeaders } from 'node:http';

/** A request the token endpoint got. */
export interface TokenRequest {
  readonly grant: string;
  /** The form without secrets: their fields are there and say `[redacted]`. */
  readonly form: Readonly<Record<string, string>>;
  readonly headers: IncomingHttpHeaders;
}

const SECRET_FIELDS = new Set(['client_secret', 'password', 'client_assertion', 'assertion', 'subject_token']);

/** The requests an endpoint got, in order; failed ones count too. */
export class RequestLog {
  readonly list: TokenRequest[] = [];

  /** How many requests there were. */
  get count(): number {
    return this.list.length;
  }

  /** The newest request. */
  get last(): TokenRequest | undefined {
    return this.list.at(-1);
  }

  /** Writes one request down. */
  add(body: string, headers: IncomingHttpHeaders): void {
    const form: Record<string, string> = {};
    for (const [field, value] of new URLSearchParams(body))
      form[field] = SECRET_FIELDS.has(field) ? '[redacted]' : value;
    this.list.push({ grant: form['grant_type'] ?? '', form, headers });
  }

  /** Forgets all requests. */
  clear(): void {
    this.list.length = 0;
  }
}
