import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { Agent, request as open } from 'node:http';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { request } from 'undici';
import { programPath } from './program-path.js';
import { temporaryFolder } from './temporary-folder.js';

const run = promisify(execFile);
const FIELDS = { 'content-type': 'application/json' };

/** An HTTP client that posts bodies. */
export interface UploadingClient {
  readonly name: string;
  /** False if it is not installed. */
  readonly installed: boolean;
  /** Posts a number of bytes repeatedly. Returns the status of each response, or the client's error. */
  upload(url: string, bytes: number, count: number): Promise<readonly string[]>;
}

const CURL = programPath('CURL_PATH', ['curl']);

/** Common HTTP clients. */
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
    upload: async (url, bytes, count) => {
      const body = join(temporaryFolder('uploads'), 'body');
      writeFileSync(body, Buffer.alloc(bytes, ' '));
      // Without waiting for "100 Continue" before long bodies.
      const fields = ['-H', 'Expect:', '-H', 'Content-Type: application/json'];
      const upload = ['-s', '-o', '/dev/null', '-w', '%{http_code}', ...fields, '--data-binary', `@${body}`, url];
      const statuses: string[] = [];
      for (let sent = 0; sent < count; sent += 1) {
        // A connection error also sets the exit code.
        const { stdout } = await run(CURL ?? 'curl', upload).catch((error: unknown) => error as { stdout: string });
        statuses.push(stdout);
      }
      return statuses;
    },
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
