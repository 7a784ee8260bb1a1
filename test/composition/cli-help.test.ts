import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { runCommandLine } from '../support/command-line.js';

describe('agent-bff', () => {
  it.each([
    ['init', ['express', 'koa', 'next', 'folder']],
    ['serve', ['--config', '--env', '--port', '--host', '--base', '--grace', '/healthz']],
    ['doctor', ['--config', '--env', '--surface', '--message', '--json']],
    ['keygen', ['--out', '--name']],
    ['demo', ['--port', '--host']],
  ])('%s explains each of its options, however help is requested', async (command, words) => {
    for (const args of [
      [command, '--help'],
      [command, '--port', '1', '-h'],
      ['help', command],
    ]) {
      const { status, printed } = await runCommandLine(args);
      expect(status).toBe(0);
      expect(printed).toMatch(new RegExp(`agent-bff ${command} (?:\\[|express)`));
      expect(printed).toContain('Exit status: 0');
      for (const word of words) expect(printed).toContain(word);
    }
  });

  it('lists every command and how to get help on it', async () => {
    for (const asking of ['help', '--help', '-h']) {
      const { status, printed } = await runCommandLine([asking]);
      expect(status).toBe(0);
      for (const word of ['init ', 'serve ', 'doctor ', 'keygen ', 'demo ', '<command> --help'])
        expect(printed).toContain(word);
    }
    expect(await runCommandLine([])).toMatchObject({
      status: 2,
      printed: (await runCommandLine(['help'])).printed,
    });
  });

  it.each([
    ['serve', '--config'],
    ['doctor', '--message'],
    ['demo', '--port'],
  ])('%s lists its options when given an unknown one', async (command, known) => {
    const { status, complained } = await runCommandLine([command, '--nonsense']);
    expect(status).toBe(2);
    expect(complained).toContain('--nonsense');
    expect(complained).toContain(known);
  });

  it.each([
    [['dcotor'], 'unknown command "dcotor". Did you mean "doctor"?'],
    [['frobnicate'], 'unknown command "frobnicate".\n'],
    [['constructor'], 'unknown command "constructor".\n'],
    [['frob\u202e\nnicate'], String.raw`unknown command "frob\u202e`],
    [['serve', '--prot', '80'], 'Did you mean "--port"?'],
    [['doctor', 'config.json'], '"agent-bff doctor --help" lists the options'],
  ])('suggests a correction for %j', async (args, says) => {
    const { status, complained } = await runCommandLine(args);
    expect(status).toBe(2);
    expect(complained).toContain(says);
  });

  it('does not present a bug as a mistake of the command line', async () => {
    const ports = {
      get clock(): never {
        throw new TypeError('a bug');
      },
    };
    await expect(runCommandLine(['doctor'], {}, ports)).rejects.toThrow('a bug');
  });

  it.each([['--version'], ['-v'], ['version']])('prints its version for %s', async (word) => {
    const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
    expect(await runCommandLine([word])).toEqual({ status: 0, printed: version, complained: '' });
  });

  it('prints colours on a terminal that supports them', async () => {
    const style = (name: string, text: string) => `<${name}>${text}</${name}>`;
    const { printed } = await runCommandLine(['doctor'], { style });
    expect(printed).toContain('<green>✓</green> configuration');
    expect(printed).toContain('<red>✗</red> agent address');
    expect(printed).toContain('<bold>fix: For routes without "auth", fill the configuration block of a strategy');
    expect(printed).toContain('<dim>-</dim> platform');
  });
});

it('agent-bff demo rejects an invalid port from the option and from PORT', async () => {
  expect((await runCommandLine(['demo', '--port', 'http'])).status).toBe(2);
  expect((await runCommandLine(['demo'], { env: { PORT: 'http' } })).complained).toContain(
    'PORT must be a whole number',
  );
});
