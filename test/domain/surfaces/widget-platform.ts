import type { FakeResponder } from '../../../src/adapters/fakes/fakes.js';
import type { HttpResponse, UpstreamOutcome, UpstreamRequest } from '../../../src/ports/http.js';
import { Deferred } from '../credentials/token-fixture.js';

/** A widget with separate state for each caller. */
interface Widget {
  name: string;
  version: number;
  readonly states: Map<string, number>;
}

/** A platform with two widgets, `counter` ("Counter") and `quote` ("Quote"), that counts its calls. */
export class WidgetPlatform {
  readonly widgets: ReadonlyMap<string, Widget> = new Map([
    ['counter', { name: 'Counter', version: 1, states: new Map() }],
    ['quote', { name: 'Quote', version: 1, states: new Map() }],
  ]);
  calls = { render: 0, check: 0, action: 0, theme: 0 };
  /** Responds to no request while set. */
  isDown = false;
  /** Changes each response to a render. */
  rendered: (response: HttpResponse) => HttpResponse = (response) => response;
  /** The response to checks while set. */
  checked: HttpResponse | undefined;
  /** Promises that a render or an action awaits before it begins, each once, oldest first. */
  readonly holds: { render: Promise<void>[]; action: Promise<void>[] } = { render: [], action: [] };

  readonly answer: FakeResponder = async (request) => {
    const { operation, id } = this.#read(request);
    this.calls[operation] += 1;
    const widget = this.widgets.get(id);
    const before = widget === undefined ? '' : this.#content(id, widget, request);
    const name = widget?.name;
    if (operation === 'render' || operation === 'action') await this.holds[operation].shift();
    if (this.isDown) return { kind: 'failure', reason: 'unreachable', log: 'down' } satisfies UpstreamOutcome;
    if (widget === undefined) return { status: 404, headers: { 'content-type': 'application/json' }, body: '{}' };
    const surface = { id, name, version: widget.version };
    const etag = `"${id}-${String(widget.version)}"`;
    const headers = { 'content-type': 'application/json', etag };
    switch (operation) {
      case 'render':
        return this.rendered({ status: 200, headers, body: JSON.stringify({ surface, content: before }) });
      case 'check':
        if (this.checked !== undefined) return this.checked;
        if (request.headers['if-none-match'] === etag) return { status: 304, headers: { etag }, body: null };
        return { status: 200, headers, body: JSON.stringify(surface) };
      case 'action': {
        const who = callerOf(request);
        widget.states.set(who, (widget.states.get(who) ?? 0) + 1);
        return {
          status: 200,
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ ok: true, surface: { id, name } }),
        };
      }
      case 'theme':
        return { status: 200, headers: { 'content-type': 'text/css', etag }, body: ':root{}' };
    }
  };

  rename(id: string, name: string): void {
    const widget = this.widgets.get(id);
    if (widget !== undefined) widget.name = name;
  }

  /** The current content of a caller's render with an empty body and no language. */
  contentFor(id: string, who: string): string {
    const widget = this.widgets.get(id);
    return `${id} v${String(widget?.version)} s${String(widget?.states.get(who) ?? 0)} for ${who}`;
  }

  #content(id: string, widget: Widget, request: UpstreamRequest): string {
    const who = callerOf(request);
    const state = `${id} v${String(widget.version)} s${String(widget.states.get(who) ?? 0)} for ${who}`;
    const language = String(request.headers['accept-language'] ?? '');
    return [state, language, String(request.body ?? '')].filter((part) => part !== '').join(' ');
  }

  #read({ method, path }: UpstreamRequest): { operation: keyof WidgetPlatform['calls']; id: string } {
    const [first = '', second = '', ...rest] = (path.split('?', 1)[0] ?? '').replace('/api/surfaces/', '').split('/');
    const [word = ''] = first === 'by-name' ? rest : [second];
    const named = [...this.widgets].find(([, { name }]) => name === decodeURIComponent(second))?.[0] ?? '';
    const id = first === 'by-name' ? named : decodeURIComponent(first);
    if (method === 'GET') return { operation: word === 'theme.css' ? 'theme' : 'check', id };
    return { operation: word === 'actions' ? 'action' : 'render', id };
  }
}

/** The caller of a credential: `ada` of `Bearer ada-token`. */
function callerOf({ headers }: UpstreamRequest): string {
  const token = String(headers['authorization'] ?? headers['x-api-key'] ?? 'nobody');
  return token.replace(/^Bearer /, '').replace(/-token.*$/, '');
}

/** A promise and a function that resolves it. */
export function held(): { readonly until: Promise<void>; readonly release: () => void } {
  const { promise, resolve } = new Deferred<void>();
  return { until: promise, release: resolve };
}
