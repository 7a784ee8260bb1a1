// Visitors who each hold one stream open: on one connection each, or many on one HTTP/2 connection.
import { once } from 'node:events';
import { request } from 'node:http';
import { connect, constants } from 'node:http2';
import { MESSAGE } from './site-process.mjs';

const STREAMS_PER_CONNECTION = 100;
const PATH = '/api/a2a';
const FIELDS = { 'content-type': 'application/json', 'content-length': MESSAGE.length };
/** A port is used once per address, and ports of an earlier run may not be free yet. */
const SOURCES = process.platform === 'linux' ? ['127.0.0.1', '127.0.0.2', '127.0.0.3', '127.0.0.4'] : [undefined];

let visitors = 0;

/** A visitor with an HTTP/1.1 connection; resolves when the head of the response has arrived. */
export async function openHttp1Stream(url) {
  const localAddress = SOURCES[visitors++ % SOURCES.length];
  const outgoing = request(url + PATH, { method: 'POST', agent: false, localAddress, headers: FIELDS });
  outgoing.end(MESSAGE);
  const [response] = await once(outgoing, 'response');
  outgoing.on('error', () => undefined);
  return visitor(response, response.statusCode, () => outgoing.destroy());
}

/** Creates visitors who share HTTP/2 connections; a connection closes when its last visitor has left. */
export function http2Streams() {
  let connection;
  return async (url) => {
    if (connection === undefined || connection.opened === STREAMS_PER_CONNECTION) connection = newConnection(url);
    const mine = connection;
    mine.opened += 1;
    const stream = mine.session.request({ ':method': 'POST', ':path': PATH, ...FIELDS });
    stream.end(MESSAGE);
    const [fields] = await once(stream, 'response');
    return visitor(stream, fields[':status'], () => {
      stream.close(constants.NGHTTP2_CANCEL);
      mine.left += 1;
      // New visitors do not share a connection that a visitor has left.
      if (mine === connection) connection = undefined;
      if (mine.left === mine.opened) mine.session.close();
    });
  };
}

function newConnection(url) {
  const session = connect(url);
  session.on('error', () => undefined);
  return { session, opened: 0, left: 0 };
}

function visitor(body, status, leave) {
  let text = '';
  let over = status !== 200;
  body.setEncoding('utf8').on('data', (chunk) => (text += chunk));
  body.on('error', () => undefined).on('close', () => (over = true));
  return { over: () => over, text: () => text.replaceAll(': keep-alive\n\n', ''), leave };
}
