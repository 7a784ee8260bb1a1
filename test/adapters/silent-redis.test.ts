import { expect, it, onTestFinished, vi } from 'vitest';
import { within } from '../../src/adapters/keyv/redis-node.js';
import { RedisStorage } from '../../src/adapters/keyv/redis-storage.js';
import { secret } from '../../src/domain/shared/secret.js';
import { STORE_AWAY } from '../../src/domain/shared/store-calls.js';
import { timed } from '../support/stopwatch.js';
import { socketServer } from '../support/socket-server.js';

it('a Redis that accepts the connection and never responds is away after "patienceMs", and closing does not wait for it', async () => {
  const store = new RedisStorage({ address: secret(`redis://${await socketServer()}`), patienceMs: 20 });
  const call = await timed(() => expect(store.get('key')).rejects.toBe(STORE_AWAY));
  expect(call.own).toBeLessThan(2_000);
  expect((await timed(() => store.close())).own).toBeLessThan(2_000);
});

it.each([
  ['rediss://127.0.0.1:6379', 'TIMEOUT after 5000 ms of the TLS handshake; the port may not use TLS'],
  ['valkeys://127.0.0.1:6379', 'TIMEOUT after 5000 ms of the TLS handshake; the port may not use TLS'],
  ['redis://127.0.0.1:6379', 'TIMEOUT after 5000 ms'],
])('a connection to %s that is not ready in time fails with "%s"', async (url, message) => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const client = { isOpen: true, isReady: false, destroy: vi.fn() };
  const never = () => new Promise(() => undefined);
  const call = expect(within(client as never, url, 5_000, never)).rejects.toThrow(new Error(message));
  await vi.advanceTimersByTimeAsync(5_000);
  await call;
});

it('a connection that is not made in time is closed, and its call fails', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const client = { isOpen: true, destroy: vi.fn() };
  const call = expect(within(client as never, 'redis://a', 5_000, () => new Promise(() => undefined))).rejects.toThrow(
    'TIMEOUT after 5000 ms',
  );
  await vi.advanceTimersByTimeAsync(5_000);
  await call;
  expect(client.destroy).toHaveBeenCalledOnce();
});
