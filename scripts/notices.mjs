// LICENSES.txt of each folder with code of other packages: first those packages, one a line, then the text of each
// licence. `node scripts/notices.mjs FOLDER` creates it from the packages that Vite found. The bill of materials reads
// the list from the packed file, so that both name the same packages.
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

export const NOTICES = 'LICENSES.txt';
/** Texts of packages that are published without theirs, from their repositories. */
const TEXTS = fileURLToPath(new URL('licences', import.meta.url));
const INTRODUCTION = 'The code in this folder includes these packages. The texts of their licences follow.';
const LINE = /^(?<name>\S+) (?<version>\d\S*) \((?<license>.+)\)$/;

/** Throws for a package without the text of its licence, which has to accompany its code. */
export function writeNotices(folder, packages) {
  const texts = new Map(
    packages.map(({ name, version, license, text }) => [`${name} ${version} (${license})`, text.trim()]),
  );
  const lines = [...texts.keys()].sort((a, b) => (a < b ? -1 : 1));
  const missing = lines.filter((line) => !texts.get(line));
  if (missing.length > 0)
    throw new Error(
      `No licence text: ${missing.join(', ')}. Add scripts/licences/NAME.txt from the package's repository.`,
    );
  const sections = [...new Set(lines.map((line) => texts.get(line)))].map((text) => {
    const titles = lines.filter((line) => texts.get(line) === text).map((line) => `## ${line}`);
    return `${titles.join('\n')}\n\n${text}\n`;
  });
  writeFileSync(join(folder, NOTICES), `${INTRODUCTION}\n\n${lines.join('\n')}\n\n${sections.join('\n')}`);
}

/** The packages that the notices of a folder list. */
export function packagesOf(notices) {
  const [introduction, list = ''] = notices.split('\n\n');
  if (introduction !== INTRODUCTION) throw new Error(`These are not the notices of a folder: ${introduction}`);
  return list.split('\n').map((line) => LINE.exec(line).groups);
}

/** An installed package, with the text of its licence. */
export function packageIn(folder) {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  return { name, version, license, text: licenceText(folder, name) };
}

function licenceText(folder, name) {
  const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
  if (file !== undefined) return readFileSync(join(folder, file), 'utf8');
  const readme = readdirSync(folder).find((entry) => /^readme/i.test(entry));
  const section =
    readme && /^#+ licen[cs]e\s*$(?<text>[^]*)/im.exec(readFileSync(join(folder, readme), 'utf8'))?.groups.text;
  if (section?.includes('Permission is hereby granted')) return section;
  const added = join(TEXTS, `${name.replace('/', '-')}.txt`);
  return existsSync(added) ? readFileSync(added, 'utf8') : '';
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const found = join(process.argv[2], 'licences.json');
  const packages = JSON.parse(readFileSync(found, 'utf8'));
  writeNotices(
    process.argv[2],
    packages.map(({ name, version, identifier, text }) => ({
      name,
      version,
      license: identifier.replace(/^\((.*)\)$/, '$1'),
      text,
    })),
  );
  rmSync(found);
}
