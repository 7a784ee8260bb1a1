import type { HeaderFields, HttpResponse } from '../../ports/http.js';
import type { RouteFields } from '../credentials/route-auth.js';
import { UpstreamError } from '../shared/errors.js';
import { bodyBytes } from '../upstream/body-bytes.js';
import { discard } from '../shared/body.js';
import { browserResponseHeaders, choosingNames, isStyleSheet } from '../shared/header-policy.js';
import { refuseRedirect, PLATFORM } from '../upstream/platform-error.js';
import type { PlatformStyles } from '../upstream/platform-styles.js';

const MAX_THEME = 1_048_576;
/** Browsers may store it, but revalidate with its entity tag each time. */
const CACHE_CONTROL = 'private, no-cache';

/** Themes as browsers get them. */
export type ThemeStyles = Pick<PlatformStyles, 'theme' | 'rulesName'>;

/**
 * Entity tags of themes as sent to browsers: the platform's own tag, or a digest if there is none, and the name of the
 * rules it was checked by. Any process can send a browser's tag to the platform while the rules are the same.
 */
export class ThemeTags {
  readonly #suffix: string;
  readonly #held: readonly string[];

  /** Takes the name of the rules, and the browser's `If-None-Match`. */
  constructor(rulesName: string, field: HeaderFields[string]) {
    this.#suffix = `.${rulesName}"`;
    this.#held = String(field ?? '').match(/(?:W\/)?"[^"]*"|\*/g) ?? [];
  }

  /** The `If-None-Match` for the platform; `undefined` if the browser has no version of these rules. */
  get forPlatform(): string | undefined {
    const tags = this.#held
      .filter((tag) => tag.endsWith(this.#suffix))
      .map((tag) => `${tag.slice(0, -this.#suffix.length)}"`);
    return tags.length === 0 ? undefined : tags.join(', ');
  }

  /** The tag of a text: from the platform's tag, otherwise from a digest. */
  of(tag: HeaderFields[string], digest = ''): string | undefined {
    const own = typeof tag === 'string' && /^(?:W\/)?"[^"]*"$/.test(tag) ? tag : digest && `"${digest}"`;
    return own === '' ? undefined : own.slice(0, -1) + this.#suffix;
  }

  /** True if the browser's version has this tag (weak comparison, RFC 9110 §13.1.2). */
  matches(tag: string | undefined): boolean {
    return tag !== undefined && this.#held.some((held) => held === '*' || opaque(held) === opaque(tag));
  }
}

function opaque(tag: string): string {
  return tag.replace(/^W\//, '');
}

/**
 * A theme as sent to the browser, or the platform's refusal.
 *
 * @throws UpstreamError when the response is not a style sheet, is larger than 1 MiB, also when checked, or cannot be parsed.
 */
export async function themeResponse(
  response: HttpResponse,
  tags: ThemeTags,
  styles: ThemeStyles,
  fields?: RouteFields,
): Promise<HttpResponse> {
  const { status } = response;
  const headers = themeHeaders(response, fields);
  if (status === 304 && tags.forPlatform !== undefined) {
    discard(response.body);
    const { 'content-type': _type, 'content-security-policy': _policy, ...rest } = headers;
    return { status, headers: withTag(rest, tags.of(response.headers['etag'])), body: null };
  }
  refuseRedirect(response, PLATFORM);
  if (status >= 400)
    return { status, headers: browserResponseHeaders(response.headers, fields?.response), body: response.body };
  if (status !== 200 || !isStyleSheet(response.headers) || response.headers['content-encoding'] !== undefined) {
    discard(response.body);
    throw noStyleSheet('The response of the platform is not a style sheet.', String(status));
  }
  const body = await bodyBytes(response.body, MAX_THEME);
  if (body === undefined) throw noStyleSheet('The style sheet of the platform is too long or incomplete.', '200');
  const theme = await styles.theme(new TextDecoder().decode(body));
  if (theme === undefined || theme.bytes.length > MAX_THEME) {
    throw noStyleSheet('The style sheet of the platform is too long or nested too deeply to be checked.', '200');
  }
  const tag = tags.of(response.headers['etag'], theme.digest);
  const sent = withTag(headers, tag);
  if (!tags.matches(tag))
    return { status, headers: { ...sent, 'content-type': 'text/css; charset=utf-8' }, body: theme.bytes };
  const { 'content-type': _type, ...rest } = sent;
  return { status: 304, headers: rest, body: null };
}

/** The fields of a theme, without those that describe the platform's original text. */
function themeHeaders(response: HttpResponse, fields: RouteFields | undefined): HeaderFields {
  const {
    'content-length': _length,
    'last-modified': _modified,
    etag: _tag,
    vary,
    ...headers
  } = browserResponseHeaders(response.headers, fields?.response);
  const varied = [vary ?? [], choosingNames(fields?.request ?? [])].flat(2);
  return { ...headers, ...(varied.length > 0 && { vary: varied.join(', ') }), 'cache-control': CACHE_CONTROL };
}

function withTag(headers: HeaderFields, etag: string | undefined): HeaderFields {
  return etag === undefined ? headers : { ...headers, etag };
}

function noStyleSheet(detail: string, status: string): UpstreamError {
  return new UpstreamError('upstream_invalid_response', { detail, log: `${detail} Status ${status}.` });
}
