import { createHash } from 'node:crypto';
import { Agent, request } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { eventText } from './soak-platform.mjs';

const USERS = 20;
const WIDGETS = 5;
const FAULT_SHARE = 0.02;
const HEAD_FAULTS = ['reset', 'cut', 'stall', '5xx', 'garbage'];
const STREAM_FAULTS = ['reset', 'cut', 'stall', 'garbage'];
/** Status that a visitor must get when the platform fails before its response. */
const STATUS = { reset: 502, cut: 502, stall: 504, '5xx': 503, garbage: 502 };
const ERROR_EVENT = 'event: error\ndata: ';

/** Visitors who each know their expected bytes. Calls `wrong` with everything else. */
export class SoakVisitors {
  counts = { streams: 0, left: 0, faults: 0, others: 0 };
  #url;
  #random;
  #wrong;
  #agent = new Agent({ keepAlive: true });
  #nonce = 0;
  /** The lowest version that each user's widget can have after the last completed action. */
  #versions = new Map();

  constructor({ url, random, wrong }) {
    this.#url = url;
    this.#random = random;
    this.#wrong = wrong;
  }

  /** Makes one visit after another, until `isOver`. */
  async visitUntil(isOver) {
    while (!isOver()) {
      const visit = this.#random.chance(0.9) ? this.#stream(this.#streamPlan()) : this.#other();
      const failed = await visit.catch((error) => this.#wrong(`a visit failed: ${error.message}`));
      // After any failure, the next visitor is served.
      if (failed === true) await this.#stream({ events: 2, pauseMs: 0, leave: {} }).catch(this.#wrong);
    }
  }

  /** Closes the idle connections. */
  pause() {
    this.#agent.destroy();
    this.#agent = new Agent({ keepAlive: true });
  }

  #streamPlan() {
    const random = this.#random;
    const events = random.whole(1, 6);
    const fault = random.chance(FAULT_SHARE) ? random.pick(HEAD_FAULTS) : undefined;
    const at = STREAM_FAULTS.includes(fault) && random.chance(0.5) ? random.whole(0, events - 1) : undefined;
    const leave = random.pick([
      {},
      { ms: random.whole(0, 20) },
      { ms: random.whole(0, 150) },
      { events: random.whole(0, events) },
    ]);
    return { events, pauseMs: random.pick([0, 0, 2, 5, 15]), fault, at, leave };
  }

  /** Opens a stream, leaves after the given time, and checks the bytes received; true when a fault was requested. */
  async #stream({ leave, ...params }) {
    this.counts.streams += 1;
    const user = this.#random.chance(0.5) ? this.#user() : undefined;
    const who = user ?? 'service';
    const id = (this.#nonce += 1);
    const nonce = `nonce-${id}`;
    const body = JSON.stringify({ jsonrpc: '2.0', id, method: 'SendStreamingMessage', params: { nonce, ...params } });
    const path = user === undefined ? '/api/a2a' : '/api/user-a2a';
    const events = Array.from({ length: params.events }, (_, index) => eventText({ id, nonce, who }, index));
    const isEnough = (text) =>
      leave.events !== undefined && text.length >= events.slice(0, leave.events).join('').length;
    const answer = await this.#send({ path, user, body, leaveMs: leave.ms, isEnough });
    const { fault, at } = params;
    if (answer.left) this.counts.left += 1;
    if (fault !== undefined) this.counts.faults += 1;
    const problem =
      fault !== undefined && at === undefined
        ? refusalProblem(answer, STATUS[fault], id)
        : streamProblem(answer, events.join(''), fault !== undefined, id);
    if (problem !== undefined) this.#wrong(`stream ${JSON.stringify({ who, leave, ...params })}: ${problem}`, answer);
    return fault !== undefined;
  }

  async #other() {
    this.counts.others += 1;
    const random = this.#random;
    const user = this.#user();
    const kind = random.pick(['record', 'upload', 'render', 'render', 'render', 'action', 'theme']);
    const fault = random.chance(FAULT_SHARE) ? random.pick(HEAD_FAULTS) : undefined;
    if (fault !== undefined) this.counts.faults += 1;
    const nonce = `nonce-${(this.#nonce += 1)}`;
    const widget = `widget-${random.whole(1, WIDGETS)}`;
    const query = fault === undefined ? '' : `?fault=${fault}`;
    const body = kind === 'upload' ? Buffer.alloc(random.whole(1, 65_536), nonce) : '{}';
    const least = this.#versions.get(`${user} ${widget}`) ?? 0;
    const { method = 'POST', path } = {
      record: { method: 'GET', path: `/api/service/records/${nonce}` },
      upload: { path: `/api/service/files/${nonce}` },
      render: { path: `/api/service-surfaces/${widget}/render` },
      action: { path: `/api/service-surfaces/${widget}/actions/buy` },
      theme: { method: 'GET', path: `/api/service-surfaces/${widget}/theme.css` },
    }[kind];
    const answer = await this.#send({ method, path: path + query, user, body: method === 'GET' ? undefined : body });
    const problem = fault === undefined ? undefined : refusalProblem(answer, STATUS[fault]);
    if (fault !== undefined || answer.status !== 200) {
      if (fault === undefined || problem !== undefined) this.#wrong(`${kind} with ${fault}: ${problem}`, answer);
      return true;
    }
    if (kind === 'theme') {
      // The package rewrites a theme, so its text differs from the platform's.
      if (!answer.text.includes(`--owner:"${user} ${widget}"`)) this.#wrong('theme of somebody else', answer);
      return false;
    }
    const value = JSON.parse(answer.text);
    const isOwn = value.who === user && (value.nonce === nonce || value.widget === widget);
    if (!isOwn) this.#wrong(`${kind} of ${user}, ${widget}, ${nonce}: somebody else's`, answer);
    if (kind === 'upload' && value.sha256 !== createHash('sha256').update(body).digest('hex')) {
      this.#wrong('an upload arrived otherwise', answer);
    }
    if (kind === 'render' && value.version < least) {
      this.#wrong(`render of ${widget} from before an action: ${value.version} < ${least}`, answer);
    }
    if (kind === 'action') {
      const key = `${user} ${widget}`;
      this.#versions.set(key, Math.max(this.#versions.get(key) ?? 0, value.version));
    }
    return false;
  }

  #user() {
    return `user${this.#random.whole(1, USERS)}`;
  }

  /** Everything received until the end of the response, or until the visitor left. */
  async #send({ method = 'POST', path, user, body, leaveMs, isEnough = () => false }) {
    const outgoing = request(this.#url + path, {
      method,
      agent: this.#random.chance(0.5) ? this.#agent : false,
      headers: {
        ...(body !== undefined && { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }),
        ...(user !== undefined && { cookie: `user=${user}` }),
      },
    });
    const answer = { left: false, status: 0, text: '', clean: false };
    const leave = () => {
      answer.left = true;
      outgoing.destroy();
    };
    if (leaveMs !== undefined) void pause(leaveMs).then(() => outgoing.closed || leave());
    await new Promise((resolve, reject) => {
      outgoing.on('error', (error) => (answer.left || answer.status > 0 ? resolve() : reject(error)));
      outgoing.once('close', resolve);
      outgoing.once('response', (response) => {
        answer.status = response.statusCode;
        response.setEncoding('utf8').on('data', (chunk) => {
          answer.text += chunk;
          if (!answer.left && isEnough(answer.text)) leave();
        });
        response.on('error', () => undefined);
        response.once('close', () => {
          answer.clean = response.complete;
          resolve();
        });
        if (isEnough('')) leave();
      });
      outgoing.end(body);
    });
    return answer;
  }
}

/** The problem of a response that must report a failure of the platform; `id` on the chat route. */
function refusalProblem({ left, status, text, clean }, expected, id) {
  if (left) return undefined;
  if (status !== expected) return `status ${status} in place of ${expected}`;
  if (!clean) return 'the error answer was cut';
  const value = JSON.parse(text);
  if (id !== undefined && value.id !== id) return `the error of request ${value.id} in place of ${id}`;
  return undefined;
}

/** The problem of a stream: it must be whole, or the beginning of the whole and visibly cut off. */
function streamProblem({ left, status, text, clean }, whole, isBroken, id) {
  if (left && status === 0) return undefined;
  if (status !== 200) return left ? undefined : `status ${status}`;
  const [events, ...errors] = text.split(ERROR_EVENT);
  if (!whole.startsWith(events)) return 'bytes of something else';
  if (left) return undefined;
  if (!isBroken) return clean && text === whole ? undefined : 'not the whole stream';
  if (errors.length === 0) return clean ? 'a broken stream that looks finished' : undefined;
  return JSON.parse(errors[0]).id === id ? undefined : "the error event of somebody else's stream";
}
