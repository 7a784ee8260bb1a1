import process from 'node:process';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { FaultLog, writeToStandardError } from '../../../src/adapters/telemetry/terminal-telemetry.js';

function openLog() {
  let now = 0;
  const lines: string[] = [];
  const log = new FaultLog({ now: () => now, write: (line) => lines.push(line) });
  return {
    lines,
    pass: (ms: number) => (now += ms),
    tell: (key: string, toolkit = 'site', maxLines = 1) =>
      log.write(key, toolkit, maxLines, (...aside) => [key, ...aside].filter((part) => part !== '').join(', ')),
    join: (...toolkits: string[]) => toolkits.forEach((toolkit) => log.join(toolkit)),
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

  it('has several lines a minute for a fault whose requests an operator has to find', () => {
    const { lines, tell, join, pass } = openLog();
    join('acme', 'bolt');
    for (let turn = 0; turn < 12; turn += 1) tell('refused', turn % 2 === 0 ? 'acme' : 'bolt', 3);
    pass(60_000);
    tell('refused', 'acme', 3);
    tell('refused', 'bolt', 3);
    expect(lines).toEqual([
      'agent-bff: refused, toolkit acme',
      'agent-bff: refused, toolkit bolt',
      'agent-bff: refused, toolkit acme',
      'agent-bff: refused, toolkits acme, bolt, 12 times in the last minute',
      'agent-bff: refused, toolkit bolt',
    ]);
  });

  it('starts a new count with each line', () => {
    const { lines, tell, pass } = openLog();
    tell('refused');
    pass(60_000);
    tell('refused');
    tell('refused');
    pass(120_000);
    tell('refused');
    expect(lines).toEqual([
      'agent-bff: refused',
      'agent-bff: refused',
      'agent-bff: refused, 2 times in the last 2 minutes',
    ]);
  });

  it('holds a hundred faults and writes more once the oldest is a minute old', () => {
    const { lines, tell, pass } = openLog();
    for (let fault = 0; fault < 1_000; fault += 1) tell(`fault ${String(fault)}`);
    expect(lines).toHaveLength(100);
    tell('fault 0');
    pass(60_000);
    tell('fault 1');
    tell('fault 0');
    expect(lines.at(-1)).toBe('agent-bff: fault 0, 2 times in the last minute');
    tell('one more');
    expect(lines.at(-1)).toBe('agent-bff: one more');
    for (let fault = 0; fault < 1_000; fault += 1) tell(`later fault ${String(fault)}`);
    expect(lines).toHaveLength(200);
  });

  it('names the toolkit of a fault once there are two', () => {
    const { lines, tell, join, pass } = openLog();
    join('', 'acme');
    tell('refused', 'acme');
    join('bolt');
    tell('late', 'bolt');
    tell('unnamed', '');
    pass(60_000);
    tell('refused', 'bolt');
    expect(lines).toEqual([
      'agent-bff: refused',
      'agent-bff: late, toolkit bolt',
      'agent-bff: unnamed',
      'agent-bff: refused, toolkit bolt',
    ]);
  });

  it('has one line for a fault of three hundred toolkits, which then names five and counts the others', () => {
    const { lines, tell, join, pass } = openLog();
    const tenants = Array.from({ length: 300 }, (_, number) => `tenant-${String(number)}`);
    join(...tenants);
    for (const tenant of tenants) tell('refused', tenant);
    for (const tenant of tenants.slice(0, 5)) tell('late', tenant);
    pass(60_000);
    tell('refused', 'tenant-0');
    tell('late', 'tenant-0');
    expect(lines).toEqual([
      'agent-bff: refused, toolkit tenant-0',
      'agent-bff: late, toolkit tenant-0',
      'agent-bff: refused, toolkits tenant-0, tenant-1, tenant-2, tenant-3, tenant-4 and 295 more, 300 times in the last minute',
      'agent-bff: late, toolkits tenant-0, tenant-1, tenant-2, tenant-3, tenant-4, 5 times in the last minute',
    ]);
  });

  it('counts a thousand toolkits of a fault, and no more', () => {
    const { lines, tell, join, pass } = openLog();
    join('t-0', 't-1');
    for (let tenant = 0; tenant < 1_200; tenant += 1) tell('refused', `t-${String(tenant)}`);
    pass(60_000);
    tell('refused', 't-0');
    expect(lines.at(-1)).toBe(
      'agent-bff: refused, toolkits t-0, t-1, t-2, t-3, t-4 and 996 more, 1200 times in the last minute',
    );
  });
});

it('a line to a closed standard error is lost without ending the process', () => {
  const { stderr } = process;
  const written = vi.spyOn(stderr, 'write').mockReturnValue(true);
  onTestFinished(() => written.mockRestore());
  writeToStandardError('one');
  const listeners = stderr.listenerCount('error');
  writeToStandardError('two');
  expect(written.mock.calls).toEqual([['one\n'], ['two\n']]);
  expect(() => stderr.emit('error', new Error('EPIPE'))).not.toThrow();
  expect(stderr.listenerCount('error')).toBe(listeners);
});
