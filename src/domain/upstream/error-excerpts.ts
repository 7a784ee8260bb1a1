import type { HttpBody, HttpResponse } from '../../ports/http.js';
import type { Credential } from '../credentials/credential.js';
import { type BodyStart, readStart } from './body-bytes.js';
import type { Counterpart } from './wrong-address.js';

/** What excerpts are made with. */
export interface ErrorExcerptsDependencies {
  /** Makes a signal that is aborted after so many milliseconds. */
  readonly deadline: (ms: number) => AbortSignal;
  /** The text as a log may have it: on one line, without these secrets or any other, and no longer than a log entry may be. */
  readonly conceal: (text: string, secrets: readonly string[]) => string;
}

/** Twice what a log entry holds: a secret at the end of an entry is read whole, so that it is recognised. */
const MAX_READ = 4_096;
/** A visitor waits for it. */
const READ_MS = 1_000;
/** A visitor waits for it, and reads it. */
const WHOLE_READ_MS = 10_000;
/** Longer secrets consist of the characters of a token. */
const MAX_ODD_SECRET = 128;
const TOKEN_CHARACTER = /[\w.~+/=%-]/;

/** Reads how the platform explains an error, for operators alone (decision 81). */
export class ErrorExcerpts {
  readonly #deps: ErrorExcerptsDependencies;

  constructor(dependencies: ErrorExcerptsDependencies) {
    this.#deps = dependencies;
  }

  /** The start of a body that goes no further; the rest is discarded. */
  read(body: HttpBody): Promise<BodyStart> {
    return readStart(body, MAX_READ, this.#deps.deadline(READ_MS));
  }

  /** A body that may pass once it has been looked into: all of it, when it is no longer and no slower than a visitor should wait for. */
  readWhole(body: HttpBody, limitBytes: number): Promise<BodyStart> {
    return readStart(body, limitBytes, this.#deps.deadline(WHOLE_READ_MS));
  }

  /** Status, media type and the start of the body, such as `status 502 from the agent, text/html: <h1>…`; the body is discarded. */
  async of(response: HttpResponse, credential: Credential, from?: Counterpart): Promise<string> {
    return this.quote(response, await this.read(response.body), credential, from);
  }

  /** The same of a body whose start was read before. */
  quote(
    response: Pick<HttpResponse, 'status' | 'headers'>,
    { bytes, isWhole }: BodyStart,
    credential: Credential,
    from?: Counterpart,
  ): string {
    const head = headOf(response, from);
    const coding = response.headers['content-encoding'];
    if (coding !== undefined && coding !== 'identity') {
      return this.#conceal(`${head}, compressed (${String(coding)})`, credential);
    }
    if (bytes.length === 0) return this.#conceal(`${head}, ${isWhole ? 'no body' : 'body unread'}`, credential);
    const text = new TextDecoder().decode(bytes);
    return this.#conceal(`${head}: ${isWhole ? text : `${withoutEnd(text, bytes.length === MAX_READ)}…`}`, credential);
  }

  /** Platforms quote what they refuse, with or without the scheme before it. */
  #conceal(text: string, { headers }: Credential): string {
    const values = Object.values(headers).flatMap((value) => value ?? []);
    return this.#deps.conceal(
      text,
      values.flatMap((value) => [value, value.slice(value.indexOf(' ') + 1)]),
    );
  }
}

function headOf(response: Pick<HttpResponse, 'status' | 'headers'>, from: Counterpart | undefined): string {
  const type =
    String(response.headers['content-type'] ?? '')
      .split(';', 1)[0]
      ?.trim() ?? '';
  const sender = from === undefined ? '' : ` from the ${from.name}`;
  return `status ${String(response.status)}${sender}${type === '' ? '' : `, ${type}`}`;
}

/** Half a secret is recognised by nobody: what the text of a body ends with that was not read to its end stays out. */
function withoutEnd(text: string, isFull: boolean): string {
  let end = isFull ? Math.max(0, text.length - MAX_ODD_SECRET) : text.length;
  while (text.length - end < MAX_ODD_SECRET && /\S/.test(text.charAt(end - 1))) end -= 1;
  while (TOKEN_CHARACTER.test(text.charAt(end - 1))) end -= 1;
  return text.slice(0, end);
}
