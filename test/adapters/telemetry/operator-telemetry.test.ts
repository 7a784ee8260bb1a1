import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { setImmediate } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { FakeUpstream, RecordingTelemetry } from '../../../src/adapters/fakes/fakes.js';
import { loggerTelemetry } from '../../../src/adapters/telemetry/logger.js';
import {
  observedUpstream,
  OperatorTelemetry,
  silentTelemetry,
} from '../../../src/adapters/telemetry/operator-telemetry.js';
import { requestId as currentOrNewId } from '../../../src/adapters/telemetry/request-scope.js';
import type { Telemetry } from '../../../src/ports/telemetry.js';
import { telemetryContract } from '../../contracts/telemetry.contract.js';

const REQUEST = { requestId: 'r-1', method: 'POST', headers: {}, publicUrl: 'https://site.example/api', path: '' };
const JWT = 'eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJhIn0.c2lnbmF0dXJl';
const broken: Telemetry = {
  emit: () => {
    throw new Error('the disk is full');
  },
  runRequest: () => {
    throw new Error('no span for you');
  },
  callStarted: () => {
    throw new Error('no trace');
  },
};

telemetryContract(
  'what stands before the listeners',
  () => new OperatorTelemetry([broken], { name: 'site', secrets: [] }),
);

describe('redaction', () => {
  it('applies to the events of listeners', () => {
    const listener = new RecordingTelemetry();
    const telemetry = new OperatorTelemetry([listener], { name: 'site', secrets: ['hunter2-hunter2'] });
    telemetry.emit({ type: 'warning', code: 'w', detail: `hunter2-hunter2 and ${JWT}` });
    telemetry.emit({
      type: 'upstream',
      callId: 'c',
      method: 'GET',
      origin: 'https://a.example',
      path: '/hunter2-hunter2',
      durationMs: 1,
    });
    expect(JSON.stringify(listener.events)).not.toMatch(/hunter2|eyJ/);
  });

  it('applies to the summary of an error, which may quote the visitor', () => {
    const listener = new RecordingTelemetry();
    const telemetry = new OperatorTelemetry([listener], { name: 'site', secrets: ['hunter2-hunter2'] });
    const summary = `The member "\u009b31m\u202ehunter2-hunter2\u2028" is not defined here.`;
    telemetry.emit({
      type: 'error',
      requestId: 'r',
      route: 'chat',
      status: 400,
      code: 'body_invalid',
      summary,
      detail: summary,
    });
    const clean = String.raw`The member "\u009b31m\u202e[redacted] " is not defined here.`;
    expect(listener.of('error')).toMatchObject([{ summary: clean, detail: clean }]);
  });
});

describe('a shortened text', () => {
  it('is redacted first: configured secrets, given ones and those of the request', () => {
    const telemetry = new OperatorTelemetry([], { name: 'site', secrets: ['hunter2-hunter2'] });
    const text = `hunter2-hunter2, given-secret, cookie-secret and ${JWT}`;
    const request = { ...REQUEST, headers: { cookie: 's=cookie-secret' } };
    expect(telemetry.runRequest(request, () => telemetry.redact(text, ['given-secret']))).toBe(
      '[redacted], [redacted], [redacted] and [redacted]',
    );
    expect(telemetry.redact('x'.repeat(3_000), [])).toHaveLength(2_048);
  });
});

describe('the request of an event', () => {
  it('is named in the event across awaits', async () => {
    const listener = new RecordingTelemetry();
    const telemetry = new OperatorTelemetry([listener], { name: 'site', secrets: [] });
    await Promise.all(
      ['r-1', 'r-2'].map((requestId) =>
        telemetry.runRequest({ ...REQUEST, requestId }, async () => {
          await Promise.resolve();
          expect(currentOrNewId()).toBe(requestId);
          telemetry.emit({ type: 'warning', code: requestId, detail: '' });
        }),
      ),
    );
    telemetry.emit({ type: 'warning', code: 'none', detail: '' });
    expect(currentOrNewId()).not.toBe(currentOrNewId());
    expect(listener.of('warning').map(({ code, requestId }) => [code, requestId])).toEqual([
      ['r-1', 'r-1'],
      ['r-2', 'r-2'],
      ['none', undefined],
    ]);
  });

  it('is the one named by the event itself', () => {
    const listener = new RecordingTelemetry();
    const telemetry = new OperatorTelemetry([listener], { name: 'site', secrets: [] });
    telemetry.runRequest(REQUEST, () => {
      telemetry.emit({ type: 'warning', requestId: 'another', code: 'w', detail: '' });
    });
    expect(listener.events).toMatchObject([{ requestId: 'another' }]);
  });
});

describe('the listeners', () => {
  const chat = {
    type: 'chat',
    requestId: 'r-1',
    route: 'chat',
    method: 'SendMessage',
    outcome: 'complete',
    durationMs: 1,
    events: 1,
    bytes: 1,
  } as const;

  it('get chat events only if they ask for them', () => {
    const [asking, other] = [new RecordingTelemetry(), new RecordingTelemetry()];
    const silent: Telemetry = { emit: (event) => other.emit(event) };
    const telemetry = new OperatorTelemetry([silent, asking], { name: 'site', secrets: [] });
    telemetry.emit(chat);
    telemetry.emit({ type: 'warning', code: 'w', detail: '' });
    expect(asking.events.map(({ type }) => type)).toEqual(['chat', 'warning']);
    expect(other.events.map(({ type }) => type)).toEqual(['warning']);
    expect(telemetry.chatEvents).toBe(true);
    expect(new OperatorTelemetry([silent], { name: 'site', secrets: [] }).chatEvents).toBe(false);
  });

  it('run a request and a call around each other, with their paths redacted', () => {
    const steps: unknown[] = [];
    const around = (name: string): Telemetry => ({
      emit: (event) => steps.push(event),
      runRequest: ({ path }, work) => {
        steps.push([name, path]);
        return work();
      },
      runCall: (send) => {
        steps.push(name);
        return send();
      },
      callStarted: ({ path }) => ({ [name]: path }),
    });
    const plain: Telemetry = { emit: () => undefined };
    const listeners = [around('outer'), plain, around('inner')];
    const telemetry = new OperatorTelemetry(listeners, { name: 'site', secrets: ['hunter2-hunter2'] });
    telemetry.learn({ name: 'later', secrets: ['swordfish-swordfish'] });
    const path = '/hunter2-hunter2/swordfish-swordfish';
    const clean = '/[redacted]/[redacted]';
    expect(telemetry.runRequest({ ...REQUEST, path }, () => telemetry.runCall(() => 'the answer'))).toBe('the answer');
    expect(steps.splice(0)).toEqual([['outer', clean], ['inner', clean], 'outer', 'inner']);
    const call = { callId: 'c', method: 'GET', origin: 'https://a.example', path };
    expect(telemetry.callStarted(call)).toEqual({ outer: clean, inner: clean });
    telemetry.emit({ type: 'upstream', ...call, durationMs: 1 });
    const event = { toolkit: 'later', type: 'upstream', ...call, path: clean, durationMs: 1 };
    expect(steps).toEqual([event, event]);
  });
});

describe('a listener that throws', () => {
  it('affects neither other listeners nor the work', () => {
    const listener = new RecordingTelemetry();
    const telemetry = new OperatorTelemetry([broken, listener], { name: 'site', secrets: [] });
    telemetry.emit({ type: 'warning', code: 'w', detail: '' });
    expect(listener.events).toHaveLength(1);
    expect(telemetry.runRequest(REQUEST, () => 'the answer')).toBe('the answer');
    expect(telemetry.callStarted({ callId: 'c', method: 'GET', origin: 'https://a.example', path: '/' })).toEqual({});
  });

  it('in an async function causes no unhandled rejection', async () => {
    const unhandled: unknown[] = [];
    const record = (reason: unknown): number => unhandled.push(reason);
    process.on('unhandledRejection', record);
    onTestFinished(() => void process.off('unhandledRejection', record));
    const reject = (): never => Promise.reject(new Error('the log is down')) as never;
    const logger = loggerTelemetry({ debug: reject, info: reject, warn: reject, error: reject });
    const late: Telemetry = { emit: reject, runRequest: reject, runCall: reject, callStarted: reject };
    const telemetry = new OperatorTelemetry([late, logger], { name: 'site', secrets: [] });
    telemetry.emit({ type: 'warning', code: 'w', detail: '' });
    expect(await telemetry.runRequest(REQUEST, () => Promise.resolve('the answer'))).toBe('the answer');
    expect(await telemetry.runCall(() => Promise.resolve('of the call'))).toBe('of the call');
    telemetry.callStarted({ callId: 'c', method: 'GET', origin: 'https://a.example', path: '/' });
    // Node reports such rejections before the next turn.
    await setImmediate();
    expect(unhandled).toEqual([]);
  });

  it('leaves a failure of the work to its caller', async () => {
    const passing: Telemetry = { emit: () => undefined, runRequest: (_request, work) => work() };
    const work = () => Promise.reject(new Error('of the work'));
    const telemetry = new OperatorTelemetry([passing], { name: 'site', secrets: [] });
    await expect(telemetry.runRequest(REQUEST, work)).rejects.toThrow('of the work');
  });

  it('after its work does not run the work again', () => {
    let runs = 0;
    const late: Telemetry = {
      emit: () => undefined,
      runRequest: (_request, work) => {
        work();
        throw new Error('too late');
      },
    };
    expect(new OperatorTelemetry([late], { name: 'site', secrets: [] }).runRequest(REQUEST, () => (runs += 1))).toBe(1);
    expect(runs).toBe(1);
  });

  it('is not mistaken for failing work, which fails once with its own error', () => {
    let runs = 0;
    const passing: Telemetry = { emit: () => undefined, runRequest: (_request, work) => work() };
    const work = (): never => {
      runs += 1;
      throw new Error('of the work');
    };
    expect(() =>
      new OperatorTelemetry([broken, passing], { name: 'site', secrets: [] }).runRequest(REQUEST, work),
    ).toThrow('of the work');
    expect(runs).toBe(1);
  });
});

it('a call carries the fields of all listeners', () => {
  const one: Telemetry = { emit: () => undefined, callStarted: () => ({ traceparent: 'a' }) };
  const other: Telemetry = { emit: () => undefined, callStarted: () => ({ baggage: 'b' }) };
  expect(
    new OperatorTelemetry([one, other], { name: 'site', secrets: [] }).callStarted({
      callId: 'c',
      method: 'GET',
      origin: 'o',
      path: '/',
    }),
  ).toEqual({
    traceparent: 'a',
    baggage: 'b',
  });
});

describe('a call to the platform', () => {
  const browser = { traceparent: 'of the browser', accept: '*/*' };
  const listening: Telemetry = { emit: () => undefined, callStarted: () => ({ traceparent: 'of the listener' }) };
  const untraced: Telemetry = { emit: () => undefined, callStarted: () => ({}) };
  const call = { method: 'GET', origin: 'https://a.example', path: '/x?q=1', body: null } as const;

  it.each<[string, Telemetry, boolean, object]>([
    ['the browser', silentTelemetry, false, browser],
    ['the browser', untraced, false, browser],
    ["the process's own instrumentation", silentTelemetry, true, { accept: '*/*' }],
    ["the process's own instrumentation", untraced, true, { accept: '*/*' }],
    ['a listener', listening, true, { ...browser, traceparent: 'of the listener' }],
  ])('has one trace context, that of %s', async (_whose, telemetry, isInstrumented, headers) => {
    const ignore = (): void => undefined;
    if (isInstrumented) subscribe('undici:request:create', ignore);
    onTestFinished(() => void unsubscribe('undici:request:create', ignore));
    const upstream = new FakeUpstream();
    await observedUpstream(upstream, telemetry, { now: () => 0 }).send({ ...call, headers: browser } as never);
    expect(upstream.requests[0]?.headers).toEqual(headers);
  });

  it('is reported with its path, without its query, its outcome and its duration', async () => {
    const events: unknown[] = [];
    const started: unknown[] = [];
    const order: string[] = [];
    const telemetry: Telemetry = {
      emit: (event) => events.push(event),
      callStarted: (observed) => {
        started.push(observed);
        return {};
      },
      runCall: (send) => {
        order.push('run');
        return send();
      },
    };
    let now = 5;
    const upstream = new FakeUpstream();
    const observing = observedUpstream(upstream, telemetry, { now: () => (now += 5) });
    const send = async (): Promise<unknown> => observing.send({ ...call, headers: {} } as never);
    await send();
    upstream.willAnswer(() => ({ kind: 'failure', reason: 'timeout', log: '' }));
    await send();
    const callId = expect.stringMatching(/^[\da-f]{8}-\w+$/) as string;
    const observed = { callId, method: 'GET', origin: 'https://a.example', path: '/x' };
    expect(started).toEqual([observed, observed]);
    expect(started[1]).not.toEqual(started[0]);
    expect(order).toEqual(['run', 'run']);
    expect(events).toEqual([
      { type: 'upstream', ...observed, status: 200, durationMs: 5 },
      { type: 'upstream', ...observed, failure: 'timeout', durationMs: 5 },
    ]);
    await observing.close();
    expect(upstream.closed).toBe(true);
  });
});

it('a warning with a fix names the environment variables of its fields', () => {
  const listener = new RecordingTelemetry();
  const variables = (block: string, fields: readonly string[]): string => ` (${block}: ${fields.join()})`;
  const warning = { type: 'warning', code: 'w', summary: 'Set it.', detail: 'Set it. It is empty.' } as const;
  for (const toolkit of [
    { name: 'site', secrets: [] },
    { name: 'site', secrets: [], variables },
  ]) {
    const telemetry = new OperatorTelemetry([listener], toolkit);
    telemetry.emit(warning);
    telemetry.emit({ ...warning, fields: ['a2aUrl'] });
    telemetry.emit({ ...warning, block: 'idpA', fields: ['domain'] });
    telemetry.emit({ type: 'warning', code: 'w', detail: 'It is empty.', fields: ['a2aUrl'] });
    const facts = { requestId: 'r', route: 'chat', status: 500, code: 'c', fields: ['a2aUrl'] } as const;
    telemetry.emit({ type: 'error', ...facts, summary: 'Set it.', detail: 'It is empty.' });
  }
  expect(listener.of('warning').map(({ summary, detail }) => [summary, detail])).toEqual([
    ...Array<unknown>(3).fill(['Set it.', 'Set it. It is empty.']),
    [undefined, 'It is empty.'],
    ['Set it.', 'Set it. It is empty.'],
    ['Set it. (configureServer: a2aUrl)', 'Set it. (configureServer: a2aUrl) It is empty.'],
    ['Set it. (idpA: domain)', 'Set it. (idpA: domain) It is empty.'],
    [undefined, 'It is empty.'],
  ]);
  expect(listener.of('error').map(({ summary }) => summary)).toEqual(['Set it.', 'Set it.']);
});
