import { parsedJson } from './json.js';

const RECORD_SEPARATOR = '\u001E';
/** One event may contain a file; a longer one is rejected. */
const MAX_EVENT_CHARACTERS = 16 * 1024 * 1024;

/**
 * The data of each event of a stream (HTML Standard, server-sent events). Some agents write a record separator before an
 * event, or JSON texts one a line (RFC 7464): both are read.
 *
 * @throws RangeError when one event is too long.
 */
export class EventStreamParser {
  #rest = '';
  #data: string[] = [];
  #size = 0;

  /** The events that end in this text. */
  push(text: string): string[] {
    const events: string[] = [];
    // A line break may be split between chunks. A long line is not searched twice.
    const isCut = this.#rest.endsWith('\r');
    const lines = ((isCut ? '\r' : '') + text)
      .split(RECORD_SEPARATOR)
      .join('\n')
      .split(/\r\n|\n|\r(?!$)/);
    lines[0] = (isCut ? this.#rest.slice(0, -1) : this.#rest) + (lines[0] ?? '');
    this.#rest = lines.pop() ?? '';
    for (const line of lines) this.#take(line, events);
    if (this.#rest.length + this.#size > MAX_EVENT_CHARACTERS) throw new RangeError('An event is too long.');
    return events;
  }

  /** The last event: some servers omit the empty line after it. */
  end(): string[] {
    const events = this.push('\n\n');
    this.#rest = '';
    return events;
  }

  #take(line: string, events: string[]): void {
    const [, value] = /^data: ?(.*)$/s.exec(line) ?? [];
    if (value !== undefined) {
      this.#data.push(value);
      this.#size += value.length;
    } else if (line.startsWith('{') || line.startsWith('[')) {
      // After a separator within the data, or without a field name.
      this.#data.push(line);
      this.#size += line.length;
      if (parsedJson(line) !== undefined) this.#dispatch(events);
    } else if (line === '') this.#dispatch(events);
  }

  #dispatch(events: string[]): void {
    const data = this.#data.join('\n').trim();
    if (data !== '') events.push(data);
    this.#data = [];
    this.#size = 0;
  }
}
