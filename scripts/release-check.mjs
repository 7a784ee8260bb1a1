// npm run release:check [-- --write] [-- --tag v1.2.3] [folder]: where the packages come from and where to report a vulnerability are set in one place,
// scripts/publisher.json. Fails until it is filled in, and while a manifest or SECURITY.md differs; --write copies it there. npm's
// package pages resolve the relative links and pictures of a README against `repository`.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { parseArgs } from 'node:util';
import { ROOT as REPOSITORY } from './command.mjs';

const { values, positionals } = parseArgs({
  options: { write: { type: 'boolean' }, tag: { type: 'string' } },
  allowPositionals: true,
});
const ROOT = positionals[0] ?? REPOSITORY;
const PLACE = 'scripts/publisher.json';
const FIELDS = {
  repository: {
    isValid: (value) => /^https:\/\/github\.com\/[\w.-]+\/[\w.-]+(?<!\.git)$/.test(value),
    fix: 'the address of the repository, https://github.com/OWNER/NAME',
  },
  securityContact: {
    isValid: (value) => /^(?:https:\/\/\S+|[^\s@]+@[^\s@]+\.[^\s@]+)$/.test(value),
    fix: 'where vulnerabilities are reported in private: an e-mail address, or the address of a form',
  },
};
const CONTACT = /<!-- contact -->.*<!-- \/contact -->/s;
const FOLDERS = { '.': '', react: 'react' };

const publisher = JSON.parse(readFileSync(join(ROOT, PLACE), 'utf8'));
const missing = Object.entries(FIELDS).flatMap(([name, { isValid, fix }]) =>
  isValid(publisher[name] ?? '')
    ? []
    : [`${PLACE}: "${name}" is ${publisher[name] ? 'invalid' : 'not set'}. Set it to ${fix}.`],
);
finish([
  ...missing,
  ...(missing.length > 0 ? [] : differences()),
  ...Object.values(FOLDERS).flatMap(brokenLinks),
  ...otherVersions(),
]);

/** Files that differ from publisher.json; with --write they are corrected. */
function differences() {
  const { repository, securityContact } = publisher;
  const manifests = Object.entries(FOLDERS).map(([folder, directory]) => {
    const file = join(folder, 'package.json');
    const text = readFileSync(join(ROOT, file), 'utf8');
    const { name, version, description, keywords, ...rest } = JSON.parse(text);
    const source = { type: 'git', url: `git+${repository}.git`, ...(directory !== '' && { directory }) };
    const page = directory === '' ? '' : `/tree/main/${directory}`;
    const described = {
      name,
      version,
      description,
      keywords,
      homepage: `${repository}${page}#readme`,
      repository: source,
    };
    const wanted = { ...described, ...rest, ...described, bugs: `${repository}/issues` };
    return { file, text, wanted: `${JSON.stringify(wanted, null, 2)}\n` };
  });
  const text = readFileSync(join(ROOT, 'SECURITY.md'), 'utf8');
  const contact = securityContact.includes('@') ? `<${securityContact}>` : `[this form](${securityContact})`;
  const security = {
    file: 'SECURITY.md',
    text,
    wanted: text.replace(CONTACT, `<!-- contact -->Write to ${contact}.<!-- /contact -->`),
  };
  return [...manifests, security].flatMap(({ file, text: present, wanted }) => {
    if (present === wanted) return [];
    if (values.write !== true) return [`${file} differs from ${PLACE}. Run npm run release:check -- --write.`];
    writeFileSync(join(ROOT, file), wanted);
    return [];
  });
}

/** Relative links and pictures of a README that lead to no file, and so to no page of the repository. */
function brokenLinks(directory) {
  const file = join(directory, 'README.md');
  const links = [...readFileSync(join(ROOT, file), 'utf8').matchAll(/\]\(([^)#\s]+)/g)].map(([, link]) => link);
  return links
    .filter((link) => !/^(?:https?|mailto):/.test(link))
    .filter((link) => !existsSync(join(ROOT, normalize(join(dirname(file), decodeURI(link))))))
    .map((link) => `${file}: "${link}" leads to no file. Correct the link.`);
}

/** With --tag: manifests with another version than the tag, and changelogs that do not name it. */
function otherVersions() {
  if (values.tag === undefined) return [];
  return Object.values(FOLDERS).flatMap((folder) => {
    const manifest = join(folder, 'package.json');
    const { version } = JSON.parse(readFileSync(join(ROOT, manifest), 'utf8'));
    const changes = join(folder, 'CHANGELOG.md');
    const isNamed = new RegExp(`^## ${version.replaceAll('.', '\\.')} \\(\\d{4}-\\d\\d-\\d\\d\\)$`, 'm').test(
      readFileSync(join(ROOT, changes), 'utf8'),
    );
    return [
      ...(values.tag === `v${version}`
        ? []
        : [`${manifest}: the version is ${version}, the tag ${values.tag}. Set both to the same version.`]),
      ...(isNamed ? [] : [`${changes}: no section "${version} (date)". Name the version in place of "unreleased".`]),
    ];
  });
}

function finish(problems) {
  for (const problem of problems) console.error(problem);
  if (problems.length === 0)
    console.log('release: repository, bugs, homepage, SECURITY.md and the links of the READMEs are in place');
  process.exitCode = problems.length === 0 ? 0 : 1;
}
