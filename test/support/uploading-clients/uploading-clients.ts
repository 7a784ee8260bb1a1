import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, request as open } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { request } from 'undici';
import { programPath } from '../program-path.js';

const run = promisify(execFile);
const PYTHON_PROGRAM = fileURLToPath(new URL('upload.py', import.meta.url));
const GO_PROGRAM = fileURLToPath(new URL('go/main.go', import.meta.url));
const FIELDS = { 'content-type': 'application/json' };

/** An HTTP client that posts bodies. */
export interface UploadingClient {
  readonly name: string;
  /** False where this machine lacks it. */
  readonly installed: boolean;
  /** Posts a body of this size this many times; returns the status of each response, or the client's error. */
  upload(url: string, bytes: number, count: number): Promise<readonly string[]>;
}

const PYTHON = process.env['PYTHON3_PATH'] ?? programPath('PYTHON3_PATH', ['python3']);
const GO = programPath('GO_BINARY_PATH', ['go']);
const CURL = programPath('CURL_PATH', ['curl']);

/** Clients that sites meet. */
export const uploadingClients: readonly UploadingClient[] = [
  inProcess('fetch', async (url, body) => {
    const response = await fetch(url, { method: 'POST', headers: FIELDS, body });
    await response.arrayBuffer();
    return response.status;
  }),
  inProcess('undici', async (url, body) => {
    const { statusCode, body: reply } = await request(url, { method: 'POST', headers: FIELDS, body });
    await reply.dump();
    return statusCode;
  }),
  inProcess('http.request with keep-alive', (url, body) => {
    const agent = new Agent({ keepAlive: true });
    return new Promise((resolve, reject) => {
      const outgoing = open(url, { method: 'POST', headers: { ...FIELDS, 'content-length': body.length }, agent });
      outgoing.on('error', reject).on('response', (response) => {
        response.resume().on('end', () => {
          resolve(response.statusCode ?? 0);
        });
      });
      outgoing.end(body);
    });
  }),
  {
    name: 'curl',
    installed: CURL !== undefined,
    upload: (url, bytes, count) =>
      withFolder(async (folder) => {
        const body = join(folder, 'body');
        writeFileSync(body, Buffer.alloc(bytes, ' '));
        // Without the pause for a "100 Continue" that it makes before long bodies.
        const fields = ['-H', 'Expect:', '-H', 'Content-Type: application/json'];
        const statuses: string[] = [];
        for (let sent = 0; sent < count; sent += 1) {
          const upload = ['-s', '-o', '/dev/null', '-w', '%{http_code}\n', ...fields, '--data-binary', `@${body}`, url];
          statuses.push(...(await lines(CURL, upload)));
        }
        return statuses;
      }),
  },
  ...['http.client', 'urllib'].map((client) => ({
    name: `Python's ${client}`,
    installed: PYTHON !== undefined,
    upload: (url: string, bytes: number, count: number) =>
      lines(PYTHON, [PYTHON_PROGRAM, client, url, String(bytes), String(count)]),
  })),
  {
    name: "Go's net/http",
    installed: GO !== undefined,
    upload: (url, bytes, count) =>
      withFolder(async (folder) => {
        const program = join(folder, 'upload');
        const env = { ...process.env, GO111MODULE: 'off', GOPATH: folder, GOFLAGS: '', CGO_ENABLED: '0' };
        await run(GO ?? 'go', ['build', '-o', program, GO_PROGRAM], { env });
        return lines(program, [url, String(bytes), String(count)]);
      }),
  },
];

function inProcess(name: string, post: (url: string, body: Buffer<ArrayBuffer>) => Promise<number>): UploadingClient {
  return {
    name,
    installed: true,
    upload: async (url, bytes, count) => {
      const body = Buffer.alloc(bytes, ' ');
      const statuses: string[] = [];
      for (let sent = 0; sent < count; sent += 1) statuses.push(String(await post(url, body).catch(String)));
      return statuses;
    },
  };
}

async function lines(program: string | undefined, parameters: readonly string[]): Promise<readonly string[]> {
  if (program === undefined) throw new Error('the program is missing');
  // A client that met an error of the connection says so by its exit code too.
  const { stdout } = await run(program, parameters).catch((error: unknown) => error as { stdout: string });
  return stdout.trim().split('\n');
}

async function withFolder<Result>(work: (folder: string) => Promise<Result>): Promise<Result> {
  const folder = mkdtempSync(join(tmpdir(), 'agent-bff-uploads-'));
  try {
    return await work(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
