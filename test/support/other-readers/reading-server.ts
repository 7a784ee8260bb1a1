import type { Site } from '../../site/framework.js';
import { PostingClient } from './posting-client.js';
import type { CrossedMessage, Reading } from './reading.js';

/** A server that reads messages over its own socket. */
export interface ReadingServer {
  readonly reader: string;
  /** Fields that its clients send besides the content type. */
  readonly fields?: readonly string[];
  /** Starts it. It passes each reading to `report` before it responds. */
  start(report: (reading: Pick<Reading, 'method' | 'push'>) => void): Promise<Site>;
}

/** A server's readings of all messages, one after the other. */
export async function readByServer(
  server: ReadingServer,
  messages: readonly CrossedMessage[],
): Promise<readonly Reading[]> {
  let last: Pick<Reading, 'method' | 'push'> | undefined;
  const { url, close } = await server.start((reading) => {
    last = reading;
  });
  const client = new PostingClient(url);
  const readings: Reading[] = [];
  for (const [id, message] of messages.entries()) {
    last = undefined;
    const declared = message.contentType === '' ? [] : [`Content-Type: ${message.contentType}`];
    const status = await client.post('/', [...declared, ...(server.fields ?? [])], message.body);
    readings.push({ id, reader: server.reader, ...(last ?? { method: null, push: false, error: status }) });
  }
  client.close();
  await close();
  return readings;
}
