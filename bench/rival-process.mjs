// Shared by every measured server: a port, and messages about its CPU and memory.
import { createServer } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { answerQuestions, options } from './process.mjs';

export { options };

/** As long as the signed tokens of the other servers. */
export const AUTHORIZATION = `Bearer ${'t'.repeat(600)}`;

const GIVEN_BACK_MS = 500;
const BACKLOG = 4_096;

/** Origin and path that requests are forwarded to. */
export const { origin: upstreamOrigin, pathname: upstreamPath } = new URL(options.upstream ?? 'http://127.0.0.1:9/');

/** Serves a request listener on a free port; `create` creates its server. */
export function serve(listener, create = createServer) {
  const server = create(listener);
  server.listen({ port: 0, host: '127.0.0.1', backlog: BACKLOG }, () => announce(server.address().port));
}

/** Sends the port of a listening server to the parent. */
function announce(port) {
  answerQuestions(
    { port },
    {
      cpu: () => {
        const { user, system } = process.cpuUsage();
        return user + system;
      },
      rss: async () => {
        // The collector returns memory to the system with a delay.
        for (let time = 0; time < 3; time += 1) {
          globalThis.gc?.();
          await pause(GIVEN_BACK_MS);
        }
        return process.memoryUsage.rss();
      },
    },
  );
}
