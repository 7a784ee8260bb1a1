// The bill of materials of a packed package: what installing the file adds to an empty folder, and what is part of its
// code. Fails if the folder's lock file or the file's notices name other packages, or if a licence has no text.
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { npm } from './command.mjs';
import { NOTICES, packageIn, packagesOf } from './notices.mjs';

const INSTALL = ['install', '--omit=dev', '--ignore-scripts', '--no-audit', '--no-fund'];
const SBOM = ['sbom', '--omit=dev', '--sbom-format', 'cyclonedx'];

/** The bill (CycloneDX), and how many packages it names: installed, bundled, all. */
export function billOfMaterials(tarball) {
  const folder = mkdtempSync(join(tmpdir(), 'agent-bff-sbom-'));
  try {
    writeFileSync(join(folder, 'package.json'), '{ "name": "empty", "version": "0.0.0", "private": true }\n');
    npm([...INSTALL, resolve(tarball)], folder);
    const { packages } = JSON.parse(readFileSync(join(folder, 'package-lock.json'), 'utf8'));
    const { '': root, ...locked } = packages;
    const [name] = Object.keys(root.dependencies);
    const installed = Object.keys(locked).map((path) => packageIn(join(folder, path)));
    const bundled = bundledIn(join(folder, 'node_modules', name));
    const bill = withBundled(JSON.parse(npm(SBOM, folder)), name, bundled);

    const wanted = new Set([...installed, ...bundled].map(reference));
    const named = new Set([bill.metadata.component, ...bill.components].map(reference));
    const faults = [...new Set([...wanted, ...named])].filter((entry) => !wanted.has(entry) || !named.has(entry));
    if (faults.length > 0) throw new Error(`Either in the bill or in the package, not in both: ${faults.join(', ')}`);
    const bare = installed.filter(({ text }) => !text.trim()).map(reference);
    if (bare.length > 0) throw new Error(`No licence text: ${bare.join(', ')}`);
    return {
      bill,
      counts: { installed: installed.length, bundled: new Set(bundled.map(reference)).size, all: named.size },
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The packages whose code is part of a package, by its notices. */
function bundledIn(folder) {
  return readdirSync(folder, { recursive: true })
    .filter((file) => basename(file) === NOTICES && !file.includes('node_modules'))
    .flatMap((file) =>
      packagesOf(readFileSync(join(folder, file), 'utf8')).map((entry) => ({
        ...entry,
        place: dirname(file).replaceAll('\\', '/'),
      })),
    );
}

/** npm's bill of the empty folder as that of the package, with the bundled ones. */
function withBundled(bill, name, bundled) {
  const own = bill.components.find((component) => component.name === name);
  const components = new Map(bill.components.filter((one) => one !== own).map((one) => [reference(one), one]));
  for (const entry of bundled) {
    const purl = `pkg:npm/${entry.name.replace('@', '%40')}@${entry.version}`;
    const component = components.get(reference(entry)) ?? {
      type: 'library',
      'bom-ref': reference(entry),
      name: entry.name,
      version: entry.version,
      purl,
      licenses: [/ /.test(entry.license) ? { expression: entry.license } : { license: { id: entry.license } }],
    };
    const properties = [...(component.properties ?? []), { name: 'agent-bff:bundledIn', value: entry.place }];
    components.set(reference(entry), { ...component, properties });
  }
  const refs = [...new Set(bundled.map((entry) => components.get(reference(entry))['bom-ref']))];
  const dependencies = bill.dependencies
    .filter(({ ref }) => ref !== bill.metadata.component['bom-ref'])
    .map((entry) =>
      entry.ref === own['bom-ref'] ? { ...entry, dependsOn: [...new Set([...entry.dependsOn, ...refs])] } : entry,
    );
  return {
    ...bill,
    metadata: { ...bill.metadata, component: own },
    components: [...components.values()],
    dependencies,
  };
}

function reference({ name, version }) {
  return `${name}@${version}`;
}
