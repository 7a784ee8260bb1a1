import { readFileSync } from 'node:fs';
import { describe, expect, it, onTestFinished, vi } from 'vitest';

const SIGNALS = ['SIGINT', 'SIGTERM'] as const;
let runs = 0;

/** Runs the program with these arguments in this process, as Node would. */
async function program(...args: string[]) {
  const { argv, exitCode } = process;
  const own = SIGNALS.map((signal) => process.listeners(signal));
  const streams = [process.stdout, process.stderr].map((stream) => {
    const listeners = stream.listeners('error');
    return { stream, listeners, written: vi.spyOn(stream, 'write').mockReturnValue(true) };
  });
  const added = () =>
    SIGNALS.map((signal, index) => process.listeners(signal).filter((one) => own[index]?.includes(one) !== true));
  onTestFinished(() => {
    process.argv = argv;
    process.exitCode = exitCode;
    added().forEach((listeners, index) => {
      for (const one of listeners) process.off(SIGNALS[index] as 'SIGINT', one);
    });
    for (const { stream, listeners } of streams)
      for (const one of stream.listeners('error')) if (!listeners.includes(one)) stream.off('error', one as () => void);
  });
  process.argv = ['node', 'agent-bff', ...args];
  // Each run needs its own copy of the module.
  await import(/* @vite-ignore */ `../../src/composition/cli.ts?run=${String((runs += 1))}`);
  const [printed, complained] = streams.map(({ written }) => written.mock.calls.map(([text]) => String(text)).join(''));
  const errorListeners = streams.map(({ stream, listeners }) => stream.listenerCount('error') - listeners.length);
  return { status: process.exitCode, printed, complained, added, errorListeners };
}

describe('the program agent-bff', () => {
  it('prints the result on standard output, and its status is 0', async () => {
    const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
    expect(await program('--version')).toMatchObject({ status: 0, printed: `${version}\n`, complained: '' });
  });

  it('prints errors on standard error, and its status is 2', async () => {
    const { status, printed, complained } = await program('frobnicate');
    expect({ status, printed }).toEqual({ status: 2, printed: '' });
    expect(complained).toMatch(/^agent-bff: unknown command "frobnicate"\.\n[^]*\n$/);
  });

  it.each([
    ['xterm', '\r\u001B[2K… credential\r\u001B[2K… cache store\r\u001B[2K'],
    ['dumb', ''],
  ])('shows the running check on a terminal, except a dumb one: %s', async (TERM, shown) => {
    vi.spyOn(process, 'env', 'get').mockReturnValue({ SERVICE_API_KEY: 'any', TERM });
    Object.defineProperty(process.stderr, 'isTTY', { value: true, configurable: true });
    onTestFinished(() => void Reflect.deleteProperty(process.stderr, 'isTTY'));
    const { status, printed, complained } = await program('doctor');
    expect([status, complained]).toEqual([1, shown]);
    expect(printed).toContain('fix: Set "a2aUrl" in configureServer. (A2A_URL)\n');
  });

  it('stops at the first signal, and leaves the second one to Node', async () => {
    const { added } = await program('--version');
    expect(added().map((listeners) => listeners.length)).toEqual([1, 1]);
    const [[, [stop]]] = [added()] as [[unknown, [(signal: string) => void]]];
    stop('SIGTERM');
    expect(added()).toEqual([[], []]);
  });

  it('outlives the reader of its output', async () => {
    expect((await program('--version')).errorListeners).toEqual([1, 1]);
  });

  it.each(['18.20.0', '20.18.3'])('names the Node it needs on Node %s', async (node) => {
    const exit = vi.spyOn(process, 'exit').mockImplementation((() => {
      throw new Error('exit');
    }) as never);
    vi.spyOn(process, 'versions', 'get').mockReturnValue({ ...process.versions, node });
    const written = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
    await expect(program('--version')).rejects.toThrow('exit');
    expect(exit).toHaveBeenCalledWith(1);
    expect(written).toHaveBeenCalledWith(`agent-bff: Node ${node} is too old. Install Node 20.19 or newer.\n`);
  });
});
