import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { ROOT } from './support/documents.js';
import { temporaryFolder } from './support/temporary-folder.js';

const FILLED = { repository: 'https://github.com/owner/name', securityContact: 'security@site.example' };

/** The files of a release, with this publisher; `check` runs the script on them. */
function release(publisher: object) {
  const folder = temporaryFolder('release');
  for (const part of ['react', 'scripts', 'docs', '.github']) mkdirSync(join(folder, part));
  for (const file of ['package.json', 'react/package.json', 'SECURITY.md', 'CHANGELOG.md', 'react/CHANGELOG.md'])
    cpSync(join(ROOT, file), join(folder, file));
  for (const file of ['README.md', 'react/README.md']) writeFileSync(join(folder, file), '[security](SECURITY.md)');
  writeFileSync(join(folder, 'react/SECURITY.md'), '');
  writeFileSync(join(folder, 'scripts/publisher.json'), JSON.stringify(publisher));
  const check = (...args: string[]) => {
    const script = join(ROOT, 'scripts/release-check.mjs');
    const { status, stderr } = spawnSync(process.execPath, [script, ...args, folder], { encoding: 'utf8' });
    return { status, problems: stderr.trim().split('\n').filter(Boolean) };
  };
  const read = (file: string): string => readFileSync(join(folder, file), 'utf8');
  return { check, read, write: (file: string, text: string) => writeFileSync(join(folder, file), text) };
}

it.each([
  [
    { repository: '', securityContact: '' },
    [/"repository" is not set\. Set it to/, /"securityContact" is not set\. Set it to/],
  ],
  [{ ...FILLED, repository: 'git@github.com:owner/name.git' }, [/"repository" is invalid\. Set it to/]],
  [{ ...FILLED, securityContact: 'somebody' }, [/"securityContact" is invalid\. Set it to/]],
])('a release with the publisher %j fails, and names what to fill in', (publisher, problems) => {
  expect(release(publisher).check()).toEqual({
    status: 1,
    problems: problems.map((problem) => expect.stringMatching(problem) as string),
  });
});

it('a filled-in publisher reaches both manifests and SECURITY.md, without changing anything else', () => {
  const { check, read } = release(FILLED);
  expect(check().problems).toHaveLength(3);
  expect(check('--write')).toEqual({ status: 0, problems: [] });
  expect(check()).toEqual({ status: 0, problems: [] });
  for (const [file, directory] of [
    ['package.json', {}],
    ['react/package.json', { directory: 'react' }],
  ] as const) {
    const { homepage, repository, bugs, ...rest } = JSON.parse(read(file)) as Record<string, unknown>;
    expect(rest).toEqual(JSON.parse(readFileSync(join(ROOT, file), 'utf8')));
    expect(repository).toEqual({ type: 'git', url: 'git+https://github.com/owner/name.git', ...directory });
    expect([homepage, bugs]).toEqual([
      expect.stringMatching(/^https:\/\/github\.com\/owner\/name.*#readme$/),
      'https://github.com/owner/name/issues',
    ]);
  }
  expect(read('SECURITY.md')).toContain('security@site.example');
});

it('a README that links to a missing file fails', () => {
  const { check, write } = release(FILLED);
  check('--write');
  write('README.md', '![picture](docs/images/missing.png)');
  expect(check().problems).toEqual([expect.stringContaining('"docs/images/missing.png" leads to no file')]);
});

it('a tag needs its version in both manifests, and its date in both changelogs', () => {
  const { check, read, write } = release(FILLED);
  check('--write');
  const { version } = JSON.parse(read('package.json')) as { version: string };
  const undated = ['CHANGELOG.md', 'react/CHANGELOG.md'].map(
    (file) => expect.stringContaining(`${file}: no section`) as string,
  );
  expect(check('--tag', `v${version}`).problems).toEqual(undated);
  for (const file of ['CHANGELOG.md', 'react/CHANGELOG.md'])
    write(file, read(file).replace('(unreleased)', '(2026-12-01)'));
  expect(check('--tag', `v${version}`)).toEqual({ status: 0, problems: [] });
  expect(check('--tag', 'v9.9.9').problems).toEqual(
    ['package.json', 'react/package.json'].map(
      (file) => `${file}: the version is ${version}, the tag v9.9.9. Set both to the same version.`,
    ),
  );
});

it('the table of compatible packages has the versions of both', () => {
  const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string };
  const react = JSON.parse(readFileSync(join(ROOT, 'react/package.json'), 'utf8')) as {
    version: string;
    peerDependencies: object;
  };
  const minor = version.replace(/\.\d+$/, '');
  const majors = JSON.stringify(react.peerDependencies).match(/\d+/g) ?? [];
  const row = `\\| ${minor} +\\| ${minor} +\\| ${[...new Set(majors)].join(', ')} +\\|`;
  expect(react.version).toBe(version);
  expect(readFileSync(join(ROOT, 'docs/release.md'), 'utf8')).toMatch(new RegExp(row));
});
