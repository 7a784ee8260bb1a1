import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** A chat message as a client sends it. */
export interface RecordedMessage {
  /** A short name of its content. */
  readonly says: string;
  readonly contentType: string;
  /** Its exact text. */
  readonly body: string;
}

/** Messages of one client. */
export interface RecordedClient {
  readonly client: string;
  /** `recorded`, or the source of handwritten messages. */
  readonly origin: string;
  readonly messages: readonly RecordedMessage[];
}

const FOLDER = new URL('recorded-messages/', import.meta.url);

/** Chat messages that policy `chat` allows, by client: A2A v0.2 to v1.0, in JSON and in protobuf JSON. */
export const RECORDED_CLIENTS: readonly RecordedClient[] = readdirSync(fileURLToPath(FOLDER))
  .filter((name) => name.endsWith('.json'))
  .sort()
  .map((name) => JSON.parse(readFileSync(new URL(name, FOLDER), 'utf8')) as RecordedClient);
