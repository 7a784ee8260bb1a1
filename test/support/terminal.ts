import { onTestFinished, vi } from 'vitest';

/** The lines that the package prints to the terminal during this test, as if it had printed none before. */
export function watchTerminal(): readonly string[] {
  Reflect.deleteProperty(globalThis, Symbol.for('agent-bff/faults@1'));
  const lines: string[] = [];
  const { write } = process.stderr;
  const spy = vi.spyOn(process.stderr, 'write').mockImplementation((chunk, ...rest) => {
    const text = String(chunk);
    if (!text.startsWith('agent-bff: ')) return write.call(process.stderr, chunk, ...(rest as []));
    lines.push(text.trimEnd());
    return true;
  });
  onTestFinished(() => spy.mockRestore());
  return lines;
}
