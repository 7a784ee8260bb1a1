import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';

/** A free local port. Another process may take it before the caller does. */
export async function freePort(host: '127.0.0.1' | 'localhost'): Promise<number> {
  const probe = createServer().listen(0, host);
  await once(probe, 'listening');
  const { port } = probe.address() as AddressInfo;
  probe.close();
  await once(probe, 'close');
  return port;
}
