import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { RedisStorage } from '../../src/adapters/keyv/redis-storage.js';
import { secret } from '../../src/domain/shared/secret.js';
import { STORE_AWAY } from '../../src/domain/shared/store-away.js';
import { timed } from '../support/stopwatch.js';

/** The address of a server that accepts connections and never responds. */
async function silentServer(): Promise<string> {
  const sockets: Socket[] = [];
  const server = createServer((socket) => sockets.push(socket.on('error', () => undefined))).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return `redis://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
}

it('a Redis that accepts the connection and never responds is away after "patienceMs", and closing does not wait for it', async () => {
  const store = new RedisStorage({ address: secret(await silentServer()), patienceMs: 20 });
  const call = await timed(() => expect(store.get('key')).rejects.toBe(STORE_AWAY));
  expect(call.own).toBeLessThan(2_000);
  expect((await timed(() => store.close())).own).toBeLessThan(2_000);
});
