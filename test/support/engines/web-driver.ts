import { setTimeout as pause } from 'node:timers/promises';

import { freePort } from '../free-port.js';
import { startProcess } from './processes.js';

/** Time limit for one call, shorter than that of a test. */
export const CALL_MS = 60_000;

/** An error that a driver reports; `code` is its name in the specification, or `no answer` of a driver that hangs. */
export class WebDriverError extends Error {
  readonly code: string;

  constructor(code: string, message: string) {
    super(`${code}: ${message}`);
    this.code = code;
  }
}

/** `ms` is the time limit, by default CALL_MS. */
export type Call = <Value>(
  method: 'GET' | 'POST' | 'DELETE',
  path: string,
  body?: object,
  ms?: number,
) => Promise<Value>;

export interface WebDriver {
  readonly call: Call;
  stop(): Promise<void>;
}

/** Starts a W3C WebDriver server on a free port. */
export async function startWebDriver(program: string, env: NodeJS.ProcessEnv): Promise<WebDriver> {
  const port = await freePort('127.0.0.1');
  const { ended, stop } = startProcess(program, [`--port=${port}`, '--host=127.0.0.1'], env);
  const call: Call = async <Value>(method: string, path: string, body?: object, ms = CALL_MS): Promise<Value> => {
    const sent = body === undefined ? {} : { body: JSON.stringify(body) };
    const signal = AbortSignal.timeout(ms);
    try {
      const response = await fetch(`http://127.0.0.1:${port}${path}`, { method, signal, ...sent });
      const { value } = (await response.json()) as { value: Value & { error?: string; message?: string } };
      if (!response.ok) throw new WebDriverError(value.error ?? '', value.message ?? '');
      return value;
    } catch (error) {
      if (!signal.aborted) throw error;
      const call = `${method} ${path} ${(sent.body ?? '').slice(0, 300)}`;
      throw new WebDriverError('no answer', `${program} did not answer within ${ms / 1000} s: ${call}`);
    }
  };
  const answers = async (): Promise<void> => {
    while (!(await call('GET', '/status').then(Boolean, () => false))) await pause(20);
  };
  await Promise.race([answers(), ended]);
  return { call, stop };
}
