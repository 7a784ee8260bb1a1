import type { IncomingHttpHeaders } from 'node:http';

/** A request to the token endpoint. */
export interface TokenRequest {
  readonly grant: string;
  /** The form with secrets replaced by `[redacted]`. */
  readonly form: Readonly<Record<string, string>>;
  readonly headers: IncomingHttpHeaders;
}

const SECRET_FIELDS = new Set(['client_secret', 'password', 'client_assertion', 'assertion', 'subject_token']);

/** The requests to an endpoint in order, including failed ones. */
export class RequestLog {
  readonly list: TokenRequest[] = [];

  /** The number of requests. */
  get count(): number {
    return this.list.length;
  }

  /** The newest request. */
  get last(): TokenRequest | undefined {
    return this.list.at(-1);
  }

  /** Records one request. */
  add(body: string, headers: IncomingHttpHeaders): void {
    const form: Record<string, string> = {};
    for (const [field, value] of new URLSearchParams(body))
      form[field] = SECRET_FIELDS.has(field) ? '[redacted]' : value;
    this.list.push({ grant: form['grant_type'] ?? '', form, headers });
  }

  /** Clears the log. */
  clear(): void {
    this.list.length = 0;
  }
}
