import { onTestFinished, vi } from 'vitest';

/** What the package tells the terminal during this test, line by line; nothing was told before. */
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
