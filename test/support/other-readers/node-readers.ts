import { frameworkReaders } from '../../site/frameworks/body-readers.js';
import { expressReaders } from './express-readers.js';
import type { ReaderFamily } from './reading.js';
import { readByServer } from './reading-server.js';
import { sdkReaders } from './sdk-readers.js';

const SERVERS = [...expressReaders, ...frameworkReaders, ...sdkReaders];

/** The JSON parsers of the frameworks, and the SDK's own servers, over loopback sockets. */
export const nodeReaders: ReaderFamily = {
  name: 'Node',
  installed: true,
  read: async (messages) => {
    const readings = await Promise.all(SERVERS.map((server) => readByServer(server, messages)));
    return readings.flat();
  },
};
