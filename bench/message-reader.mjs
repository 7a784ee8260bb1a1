// Reads HTTP/1.1 messages from a connection with as little work as possible, since it shares the machine with the measured server.

const HEAD_END = Buffer.from('\r\n\r\n');
const LINE_END = Buffer.from('\r\n');
const NOTHING = Buffer.alloc(0);

/** Calls `onHead(head)`, `onData(chunk)` and `onEnd()`, for requests and for responses. */
export class MessageReader {
  #listener;
  #rest = NOTHING;
  #state = 'head';
  #left = 0;

  constructor(listener) {
    this.#listener = listener;
  }

  push(chunk) {
    let data = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    this.#rest = NOTHING;
    while (data !== undefined && data.length > 0) data = this.#step(data);
  }

  /** The connection ended; only a body without a length is complete then. */
  close() {
    if (this.#state === 'until-close') this.#end();
    else if (this.#state !== 'head' || this.#rest.length > 0) return false;
    return true;
  }

  /** Parses one part and returns the rest; undefined when the part is incomplete. */
  #step(data) {
    switch (this.#state) {
      case 'head':
        return this.#head(data);
      case 'length':
        return this.#body(data, () => this.#end());
      case 'chunk':
        return this.#body(data, () => (this.#state = 'chunk-end'));
      case 'chunk-size':
        return this.#line(data, (line) => {
          this.#left = Number.parseInt(line, 16);
          this.#state = this.#left === 0 ? 'trailer' : 'chunk';
        });
      case 'chunk-end':
        return this.#line(data, () => (this.#state = 'chunk-size'));
      case 'trailer':
        return this.#line(data, (line) => {
          if (line === '') this.#end();
        });
      default:
        this.#listener.onData(data);
        return undefined;
    }
  }

  #head(data) {
    const end = data.indexOf(HEAD_END);
    if (end < 0) return this.#wait(data);
    const head = data.latin1Slice(0, end);
    const rest = data.subarray(end + HEAD_END.length);
    if (head.startsWith('HTTP/1.1 1')) return rest;
    this.#listener.onHead(head);
    const length = /\r\ncontent-length: *(\d+)/i.exec(head);
    if (length !== null) {
      this.#left = Number(length[1]);
      this.#state = 'length';
      if (this.#left === 0) this.#end();
    } else if (/\r\ntransfer-encoding: *chunked/i.test(head)) this.#state = 'chunk-size';
    else if (/^HTTP\/1\.1 (?!204|304)/.test(head)) this.#state = 'until-close';
    else this.#end();
    return rest;
  }

  #body(data, done) {
    if (data.length < this.#left) {
      this.#left -= data.length;
      this.#listener.onData(data);
      return undefined;
    }
    const rest = data.subarray(this.#left);
    this.#listener.onData(data.subarray(0, this.#left));
    this.#left = 0;
    done();
    return rest;
  }

  #line(data, take) {
    const end = data.indexOf(LINE_END);
    if (end < 0) return this.#wait(data);
    take(data.latin1Slice(0, end));
    return data.subarray(end + LINE_END.length);
  }

  #wait(data) {
    this.#rest = data;
    return undefined;
  }

  #end() {
    this.#state = 'head';
    this.#listener.onEnd();
  }
}
