import { describe, expect, it } from 'vitest';
import { FaultLog } from '../../../src/adapters/telemetry/terminal-telemetry.js';

function openLog() {
  let now = 0;
  const lines: string[] = [];
  const log = new FaultLog({ now: () => now, write: (line) => lines.push(line) });
  return {
    lines,
    pass: (ms: number) => (now += ms),
    tell: (key: string) => log.write(key, (times) => (times === '' ? key : `${key}, ${times}`)),
  };
}

describe('the log of faults', () => {
  it('has one line for each distinct fault', () => {
    const { lines, tell } = openLog();
    for (const key of ['refused', 'late', 'refused', 'refused', 'late']) tell(key);
    expect(lines).toEqual(['agent-bff: refused', 'agent-bff: late']);
  });

  it('counts repetitions after a minute, and writes none before', () => {
    const { lines, tell, pass } = openLog();
    for (let turn = 0; turn < 12; turn += 1) tell('refused');
    pass(59_999);
    tell('refused');
    expect(lines).toHaveLength(1);
    pass(1);
    tell('refused');
    expect(lines).toEqual(['agent-bff: refused', 'agent-bff: refused, 13 times in the last minute']);
  });

  it('starts a new count with each line', () => {
    const { lines, tell, pass } = openLog();
    tell('refused');
    pass(60_000);
    tell('refused');
    tell('refused');
    pass(600_000);
    tell('refused');
    expect(lines).toEqual([
      'agent-bff: refused',
      'agent-bff: refused',
      'agent-bff: refused, 2 times in the last 10 minutes',
    ]);
  });

  it('holds a hundred faults and writes more once the oldest is a minute old', () => {
    const { lines, tell, pass } = openLog();
    for (let fault = 0; fault < 1_000; fault += 1) tell(`fault ${String(fault)}`);
    expect(lines).toHaveLength(100);
    pass(60_000);
    tell('one more');
    expect(lines.at(-1)).toBe('agent-bff: one more');
    for (let fault = 0; fault < 1_000; fault += 1) tell(`later fault ${String(fault)}`);
    expect(lines).toHaveLength(200);
  });
});
