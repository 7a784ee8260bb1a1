import type { Exchange, RecordedRequest } from '../../../support/recording-upstream.js';
import { type AbuseCase, chat, type PlatformAnswer, type SafeOutcome, type WireStep } from './abuse-case.js';
import { type AbuseWorld, healthy } from './abuse-world.js';
import { unsafeReply, unsafeRequest } from './safety-rules.js';
import { encode, exchange, type WireReply } from './wire.js';

let number = 0;

/** Runs one case on a site and returns everything unsafe about its outcome. */
export async function tryCase(world: AbuseWorld, abuse: AbuseCase): Promise<readonly string[]> {
  const { upstream, canary } = world;
  number += 1;
  const fill = (text: string): string => text.replaceAll('{n}', String(number)).replaceAll('{canary}', canary.address);
  upstream.requests.length = 0;
  world.later();
  const visits = canary.visits();
  answerWith(world, abuse.platform, fill);
  const sent: string[] = [];
  const replies: WireReply[] = [];
  for (const step of abuse.steps) {
    const bytes = bytesOf(step, fill);
    sent.push(bytes);
    const { answers = step.send.length, halfCloses = false, byteByByte = false } = step;
    replies.push(await exchange(world.url, bytes, { answers, halfCloses, byteByByte }));
  }
  upstream.willAnswer(healthy);
  const alive = await isAlive(world);
  const requests = upstream.requests.filter(({ body }) => !body.includes('liveness-'));
  const users = [...sent.join('').matchAll(/session=(\w+)/g)].map(([, user = '']) => user);
  return [
    ...alive,
    ...(canary.visits() > visits ? ['called a forbidden address'] : []),
    ...requests.flatMap((request) => unsafeRequest(request, world.secrets, users)),
    ...replies.flatMap(({ text, ended }) => [
      ...unsafeReply(text, world.secrets),
      ...(ended ? [] : ['left the visitor waiting']),
    ]),
    ...unsafeOutcome(outcomeOn(world, abuse), abuse, requests, replies, fill),
  ];
}

function bytesOf({ send }: WireStep, fill: (text: string) => string): string {
  return send
    .map((message) => {
      if (typeof message === 'string') return fill(message);
      const { target, fields, body } = message;
      return encode({
        ...message,
        target: fill(target),
        fields: fields.map(fill),
        ...(body === undefined ? {} : { body: fill(body) }),
      });
    })
    .join('');
}

function answerWith({ upstream }: AbuseWorld, answers: AbuseCase['platform'], fill: (text: string) => string): void {
  let turn = 0;
  upstream.willAnswer((exchanged) => {
    const answer = answers?.[Math.min(turn, answers.length - 1)];
    turn += 1;
    if (answer === undefined) healthy(exchanged);
    else exchanged.raw(Buffer.from(echoing(exchanged, fill(answerBytes(answer))), 'latin1')).fin();
  });
}

function answerBytes(answer: PlatformAnswer | string): string {
  if (typeof answer === 'string') return answer;
  const { status = 200, fields, body = '' } = answer;
  const framed = status === 204 || status === 304 ? [] : [`Content-Length: ${String(body.length)}`];
  // The connection closes after this response.
  const last = fields.some((field) => /^connection:/i.test(field)) ? [] : ['Connection: close'];
  return `${[`HTTP/1.1 ${String(status)} X`, ...fields, ...framed, ...last].join('\r\n')}\r\n\r\n${body}`;
}

function echoing(exchanged: Exchange, text: string): string {
  return text.replaceAll('{bearer}', exchanged.values('authorization').join() || exchanged.values('x-api-key').join());
}

/** Checks that the next visitor is served normally. */
async function isAlive({ url }: AbuseWorld): Promise<string[]> {
  const id = `liveness-${String(number)}`;
  const body = `{"jsonrpc":"2.0","id":"${id}","method":"SendMessage","params":{}}`;
  const { answers } = await exchange(url, encode(chat([], body)), { answers: 1, halfCloses: false, byteByByte: false });
  const [answer] = answers;
  return answer?.status === 200 && answer.body.includes(id) && answer.body.includes('"for":"service"')
    ? []
    : [`did not serve the next visitor: ${String(answer?.status)} ${String(answer?.body)}`];
}

function outcomeOn({ framework }: AbuseWorld, { safe, on = {} }: AbuseCase): SafeOutcome {
  return {
    ...safe,
    ...(framework.resolvesPaths === true || framework.isWebStandard === true ? on.resolving : {}),
    ...(framework.isWebStandard === true ? on.web : {}),
  };
}

function unsafeOutcome(
  outcome: SafeOutcome,
  { steps }: AbuseCase,
  requests: readonly RecordedRequest[],
  replies: readonly WireReply[],
  fill: (text: string) => string,
): string[] {
  const found: string[] = [];
  const statuses = replies.flatMap(statusesOf);
  const wrong = statuses.filter((status) => !outcome.statuses.includes(status));
  if (wrong.length > 0) found.push(`answered ${wrong.join()} instead of ${outcome.statuses.join(' or ')}`);
  const most = outcome.mostRequests ?? steps.flatMap(({ send }) => send).length;
  if (outcome.platform === 'never' ? requests.length > 0 : requests.length > most) {
    found.push(`sent ${requests.map(({ method, target }) => `${method} ${target}`).join(', ')}`);
  }
  if (outcome.platform === 'must' && requests.length === 0) found.push('sent nothing');
  const upstream = requests.map(textOf).join('\n\n');
  const told = replies.map(({ text }) => text).join('\n\n');
  const bodies = replies.flatMap(({ answers }) => answers.map(({ body }) => body)).join('\n');
  for (const text of outcome.notUpstream ?? []) if (holds(upstream, fill(text))) found.push(`sent "${text}"`);
  for (const text of outcome.upstream ?? []) if (!upstream.includes(fill(text))) found.push(`did not send "${text}"`);
  for (const text of outcome.notAnswered ?? []) {
    if (holds(told, fill(text)) || holds(bodies, fill(text))) found.push(`answered ${JSON.stringify(text)}`);
  }
  for (const text of outcome.answered ?? []) if (!holds(told, fill(text))) found.push(`did not answer "${text}"`);
  const answers = replies.flatMap((reply) => reply.answers.filter(({ status }) => status >= 200));
  for (const [index, texts] of (outcome.answers ?? []).entries()) {
    const answer = answers[index];
    const whole = answer === undefined ? '' : answer.head + answer.body;
    for (const text of texts) {
      if (!whole.includes(text)) found.push(`answer ${String(index + 1)} has no ${text}`);
    }
  }
  return found;
}

/** 0 for a connection that ended without a response. A response of the host counts as 404. */
function statusesOf({ text, answers }: WireReply): number[] {
  if (answers.length === 0) return [Number(/^HTTP\/1\.1 (\d{3})/.exec(text)?.[1] ?? 0)];
  return answers.map(({ status, body }) => (status === 200 && body === 'host' ? 404 : status));
}

function textOf({ method, target, fields, body }: RecordedRequest): string {
  const lines = fields.map(([name, value]) => `${name}: ${value}`);
  return `${[`${method} ${target} HTTP/1.1`, ...lines].join('\r\n')}\r\n\r\n${body.toString('latin1')}`;
}

function holds(text: string, part: string): boolean {
  return text.toLowerCase().includes(part.toLowerCase());
}
