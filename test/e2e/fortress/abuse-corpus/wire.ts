import { connect } from 'node:net';
import type { WireRequest } from './abuse-case.js';

/** One response as received on the wire. */
export interface WireAnswer {
  readonly status: number;
  /** Status line and fields. */
  readonly head: string;
  readonly body: string;
}

/** Everything received on one connection, and the responses parsed from it. */
export interface WireReply {
  readonly text: string;
  readonly answers: readonly WireAnswer[];
  /** True if the connection ended in time. */
  readonly ended: boolean;
}

export interface WireOptions {
  /** Close our side after this many complete responses. */
  readonly answers: number;
  readonly halfCloses: boolean;
  readonly byteByByte: boolean;
}

/** The time limit of a case. */
const DEADLINE_MS = 20_000;

/** A message as bytes in Latin-1. */
export function encode({ method, target, fields, body, framing = 'length' }: WireRequest): string {
  const named = (name: string): boolean => fields.some((field) => field.toLowerCase().startsWith(`${name}:`));
  const lines = [`${method} ${target} HTTP/1.1`];
  if (!named('host')) lines.push('Host: site.example');
  lines.push(...fields);
  if (!named('connection')) lines.push('Connection: close');
  if (framing === 'chunked') lines.push('Transfer-Encoding: chunked');
  else if (framing === 'length' && body !== undefined) lines.push(`Content-Length: ${String(body.length)}`);
  const head = `${lines.join('\r\n')}\r\n\r\n`;
  if (body === undefined) return head;
  return framing === 'chunked' ? `${head}${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n` : head + body;
}

/** Sends bytes on a new connection and reads until it ends. */
export async function exchange(url: string, bytes: string, options: WireOptions): Promise<WireReply> {
  const { hostname, port } = new URL(url);
  const isHead = /^\s*HEAD /.test(bytes);
  const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
  const chunks: Buffer[] = [];
  const text = (): string => Buffer.concat(chunks).toString('latin1');
  let ended = false;
  return new Promise((resolve) => {
    const deadline = setTimeout(() => socket.destroy(), DEADLINE_MS);
    socket.on('error', () => undefined);
    socket.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      if (readAnswers(text(), isHead).filter(({ status }) => status >= 200).length >= options.answers) socket.end();
    });
    socket.on('end', () => {
      ended = true;
      socket.end();
    });
    socket.on('close', (hadError) => {
      clearTimeout(deadline);
      resolve({ text: text(), answers: readAnswers(text(), isHead), ended: ended || hadError });
    });
    if (options.byteByByte) void writeSlowly(Buffer.from(bytes, 'latin1'), (byte) => socket.write(byte));
    else socket.write(Buffer.from(bytes, 'latin1'));
    if (options.halfCloses) socket.end();
  });
}

async function writeSlowly(bytes: Buffer, write: (byte: Uint8Array) => void): Promise<void> {
  for (const byte of bytes) {
    write(Uint8Array.of(byte));
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** The complete responses at the start of the received bytes. */
function readAnswers(text: string, isHead = false): WireAnswer[] {
  const answers: WireAnswer[] = [];
  let rest = text;
  for (;;) {
    const end = rest.indexOf('\r\n\r\n');
    if (end < 0 || !rest.startsWith('HTTP/1.')) return answers;
    const head = rest.slice(0, end);
    const status = Number(head.slice(9, 12));
    const after = rest.slice(end + 4);
    const body = isHead || status < 200 || status === 204 || status === 304 ? ['', 0] : readBody(head, after);
    if (body === undefined) return answers;
    answers.push({ status, head, body: String(body[0]) });
    rest = after.slice(Number(body[1]));
  }
}

/** A body and its length on the wire; `undefined` if it is incomplete. */
function readBody(head: string, after: string): readonly [string, number] | undefined {
  const length = /^content-length: *(\d+)/im.exec(head)?.[1];
  if (length !== undefined)
    return after.length < Number(length) ? undefined : [after.slice(0, Number(length)), Number(length)];
  if (!/^transfer-encoding: *chunked/im.test(head)) return [after, after.length];
  let body = '';
  let at = 0;
  for (;;) {
    const lineEnd = after.indexOf('\r\n', at);
    if (lineEnd < 0) return undefined;
    const size = Number.parseInt(after.slice(at, lineEnd), 16);
    const from = lineEnd + 2;
    if (Number.isNaN(size) || after.length < from + size + 2) return undefined;
    if (size === 0) return [body, after.indexOf('\r\n', from) + 2];
    body += after.slice(from, from + size);
    at = from + size + 2;
  }
}
