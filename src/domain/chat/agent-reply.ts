import type { HeaderFields, HttpResponse } from '../../ports/http.js';
import type { Telemetry } from '../../ports/telemetry.js';
import { isEventStream, isJson } from '../shared/body.js';
import { isObject, parsedJson } from '../shared/json.js';
import { EVENT_END, eventData } from '../shared/server-sent-events.js';
import { bodyBytes } from '../upstream/body-bytes.js';
import {
  AGENT,
  MAX_ERROR_BYTES,
  platformError,
  type PlatformErrors,
  type PlatformReply,
  refuseRedirect,
  refusesSite,
} from '../upstream/platform-error.js';
import { type CardRewrite, isAgentCard, rewrittenCard, withCardEdited } from './agent-card.js';
import type { A2ACall } from './call.js';

/**
 * The agent's response to a call that is no success in a format of its binding, if it is meant for the client.
 *
 * @throws UpstreamError in place of any other response, with its status.
 */
export function passedError(
  reply: PlatformReply,
  call: A2ACall,
  errors: PlatformErrors,
  telemetry: Telemetry,
): Promise<HttpResponse> {
  return call.rest === undefined ? rpcError(reply, errors, telemetry) : restError(reply, call.rest.method, errors);
}

/** Passes JSON-RPC errors at any status. */
async function rpcError(reply: PlatformReply, errors: PlatformErrors, telemetry: Telemetry): Promise<HttpResponse> {
  const { status, headers } = reply.response;
  refuseRedirect(reply.response, AGENT);
  if (status < 400 || (!isJson(headers) && !isEventStream(headers))) throw await errors.replacing(reply);
  const start = await errors.start(reply);
  const isRpc = start.isWhole && (await isRpcErrorBody(headers, start.bytes));
  if (!isRpc) throw await errors.replacing(reply, start);
  if (refusesSite(reply)) {
    // The visitor reads this as a message from the agent, and cannot know whose credential was rejected.
    const said = await errors.said(reply, start);
    const { message: summary, block = '', fields } = platformError(reply, AGENT, said);
    telemetry.emit({
      type: 'warning',
      code: 'credential_refused',
      summary,
      detail: `${summary} ${said}`,
      block,
      fields,
    });
  } else if (status >= 500) {
    const summary = 'The agent answered with an error of its own. Look at its log.';
    const detail = `${summary} ${await errors.said(reply, start)}`;
    telemetry.emit({ type: 'warning', code: 'agent_failed', summary, detail });
  }
  return { ...reply.response, body: start.bytes };
}

/** Passes JSON errors below 500, and of 5xx those in the binding's own form. */
async function restError(reply: PlatformReply, method: string, errors: PlatformErrors): Promise<HttpResponse> {
  const { response, counterpart } = reply;
  refuseRedirect(response, counterpart);
  if (response.status < 400) {
    // The status alone confirms a deletion; the binding defines no body for it.
    if (method === 'DELETE' && response.headers['content-type'] === undefined) return response;
    throw await errors.replacing(reply);
  }
  if (refusesSite(reply) || !isJson(response.headers)) throw await errors.replacing(reply);
  if (response.status < 500) return response;
  if (response.headers['content-encoding'] !== undefined) throw await errors.replacing(reply);
  const start = await errors.start(reply);
  const value = start.isWhole ? parsedJson(new TextDecoder().decode(start.bytes)) : undefined;
  if (isObject(value) && isObject(value['error'])) return { ...response, body: start.bytes };
  throw await errors.replacing(reply, start);
}

/**
 * A response with the extended card in it rewritten like the public one (decision 30). Errors of the agent pass
 * unchanged.
 *
 * @throws UpstreamError when the response has no card, or one that cannot be rewritten.
 */
export async function withExtendedCard(
  response: HttpResponse,
  { rest }: A2ACall,
  rewrite: CardRewrite,
): Promise<HttpResponse> {
  if (response.status >= 300) return response;
  const edited = (card: unknown): Record<string, unknown> | undefined =>
    isAgentCard(card) ? rewrittenCard(card, rewrite) : undefined;
  return withCardEdited(response, (reply, text) => {
    if (rest !== undefined) return JSON.stringify(edited(reply));
    if (!isObject(reply) || !('jsonrpc' in reply)) return undefined;
    if (!('result' in reply)) return text;
    const result = edited(reply['result']);
    return result && JSON.stringify({ ...reply, result });
  });
}

const FORMATS: Readonly<Record<string, CompressionFormat>> = { gzip: 'gzip', 'x-gzip': 'gzip', deflate: 'deflate' };

/**
 * True if a body contains only JSON-RPC errors (JSON-RPC 2.0 §5.1), which are meant for the client: one, a batch, or an
 * event stream with one in each event. Compressed bodies are decompressed first.
 */
async function isRpcErrorBody(headers: HeaderFields, body: Uint8Array): Promise<boolean> {
  const bytes = await decoded(body, headers['content-encoding']);
  if (bytes === undefined) return false;
  const text = new TextDecoder().decode(bytes);
  const data = text.split(EVENT_END).map(eventData).filter(Boolean);
  const values = isEventStream(headers) ? data.map((one) => parsedJson(one)) : [parsedJson(text)].flat();
  return values.length > 0 && values.every(isRpcError);
}

function isRpcError(value: unknown): boolean {
  return isObject(value) && 'jsonrpc' in value && isObject(value['error']);
}

/** The bytes without their coding; `undefined` if it is unknown, does not match, or hides more than an error. */
async function decoded(body: Uint8Array, coding: HeaderFields[string]): Promise<Uint8Array | undefined> {
  if (coding === undefined || coding === 'identity') return body;
  const format = typeof coding === 'string' ? FORMATS[coding.toLowerCase()] : undefined;
  if (format === undefined) return undefined;
  const stream = new Blob([body as BlobPart]).stream().pipeThrough(new DecompressionStream(format));
  return bodyBytes(stream as unknown as AsyncIterable<Uint8Array>, MAX_ERROR_BYTES);
}
