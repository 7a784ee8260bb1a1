import { AsyncLocalStorage } from 'node:async_hooks';
import type { HeaderFields } from '../../ports/http.js';
import type { ObservedRequest } from '../../ports/telemetry.js';
import type { SessionToken, SessionTokenSource } from '../../ports/session-token-source.js';
import { uriDecoded } from '../../domain/shared/bytes.js';
import { cookiePairs } from '../../domain/shared/message-fields.js';
import { withoutSecrets } from '../../domain/shared/redaction.js';

/** Shorter parts of a value are common words. */
const MIN_PART = 16;

interface Scope {
  readonly request: ObservedRequest;
  /** Tokens of the visitor that are not in the request itself. */
  readonly tokens: string[];
}

const running = new AsyncLocalStorage<Scope>();

/** Fields of a proxy or host that carry a credential, such as `x-ms-token-aad-refresh-token`. */
const CREDENTIAL_FIELD = /(?:token|api-key|secret)$/;

/** Runs the work of one request, so that everything it causes can refer to it. */
export function inRequest<Result>(request: ObservedRequest, work: () => Result): Result {
  return running.run({ request, tokens: [] }, work);
}

/** The id of the request this code runs for; absent outside of one. */
export function currentRequestId(): string | undefined {
  return running.getStore()?.request.requestId;
}

/** Registers a token of the visitor for the duration of this request, so that it is redacted from all texts about the request. */
export function hideToken(token: string): void {
  running.getStore()?.tokens.push(token);
}

/** Secrets to redact from texts about the current request: its own, and the tokens obtained for it. */
export function currentSecrets(): readonly string[] {
  const scope = running.getStore();
  return scope === undefined ? [] : [...scope.tokens, ...requestSecrets(scope.request.headers)];
}

// Random once, then counted: unique across processes, and almost free per request.
const prefix = crypto.randomUUID().slice(0, 8);
let count = 0;

/** The id of the current request, or a new one if it has none yet. */
export function requestId(): string {
  return running.getStore()?.request.requestId ?? newRequestId();
}

/** A new request id, such as `3f9a1c07-2s`. */
export function newRequestId(): string {
  count += 1;
  return `${prefix}-${count.toString(36)}`;
}

/**
 * Secrets in a request's fields that must not appear in a text: each cookie's value, the credential of
 * `authorization` and the tokens that a proxy or host adds, as sent and decoded, and their longer parts, since a library
 * that opens `s:<id>.<signature>` may quote the id alone.
 */
export function requestSecrets(headers: HeaderFields): string[] {
  const cookies = cookiePairs(headers['cookie']).map((pair) => pair.slice(pair.indexOf('=') + 1).trim());
  const authorization = [headers['authorization'] ?? ''].flat().join(',').trim();
  const schemeEnd = authorization.search(/\s/);
  const scheme = authorization.slice(0, Math.max(0, schemeEnd));
  // Without a scheme, all of it: some sites send a bare key.
  const credential = authorization.slice(schemeEnd + 1).trimStart();
  // Browsers and libraries differ in the encoding of names and passwords.
  const basic = scheme.toLowerCase() === 'basic' ? [fromBase64(credential), fromBase64(credential, 'latin1')] : [];
  const passwords = basic.map((pair) => pair.slice(pair.indexOf(':') + 1));
  const others = Object.keys(headers).filter((name) => CREDENTIAL_FIELD.test(name));
  const tokens = others.flatMap((name) => headers[name] ?? []);
  const secrets = [...cookies, ...tokens, credential, ...basic, ...passwords].flatMap(readingsOf);
  return [...new Set(secrets)].filter((secret) => secret !== '');
}

/** A value as sent, as libraries decode it, and its parts. */
function readingsOf(value: string): string[] {
  const unquoted = value.replace(/^"(.*)"$/s, '$1');
  const plain = uriDecoded(unquoted) ?? unquoted;
  if (plain.length < MIN_PART) return [value, plain];
  // Some libraries store a session as unencrypted JSON.
  const inside = /^[\w+/-]+=*$/.test(plain) ? fromBase64(plain) : '';
  const parts = `${plain} ${inside}`.split(/[^\w-]+/).filter((part) => part.length >= MIN_PART);
  return [value, plain, ...parts];
}

/** Decodes base64. A part that is no UTF-8 must not hide the others, such as the password after a name. */
function fromBase64(value: string, encoding: 'utf8' | 'latin1' = 'utf8'): string {
  return Buffer.from(value, 'base64').toString(encoding);
}

/**
 * A session source whose refusals and failures do not quote the request's cookies and credentials: session libraries
 * repeat what they cannot parse. `limited` limits the wait for one that never settles.
 */
export function redactingSessionSource(
  source: SessionTokenSource,
  limited: (work: Promise<SessionToken>) => Promise<SessionToken>,
): SessionTokenSource {
  const { name, sessionCookies, sessionInCookie } = source;
  return {
    ...(name === undefined ? {} : { name }),
    ...(sessionCookies === undefined ? {} : { sessionCookies }),
    ...(sessionInCookie === undefined ? {} : { sessionInCookie }),
    sessionVersion: (request) => {
      try {
        return source.sessionVersion?.(request);
      } catch (error) {
        throw quoteless(error, requestSecrets(request.headers));
      }
    },
    getToken: async (request, query) => {
      try {
        const found = await limited(source.getToken(request, query));
        if (found.kind !== 'expired' || found.log === undefined) return found;
        return { ...found, log: withoutSecrets(found.log, requestSecrets(request.headers)) };
      } catch (error) {
        throw quoteless(error, requestSecrets(request.headers));
      }
    },
  };
}

/** The error itself if it quotes no secret; otherwise one without its stack and cause, which quote it too. */
function quoteless(error: unknown, secrets: readonly string[]): unknown {
  if (!(error instanceof Error)) return error;
  const { name, message } = error;
  const clean = { name: withoutSecrets(name, secrets), message: withoutSecrets(message, secrets) };
  if (clean.name === name && clean.message === message) return error;
  return Object.assign(new Error(clean.message), { name: clean.name });
}
