// npm run pack [-- FOLDER]: packs both packages once, for the tests and for publishing; default temp/packed. Beside each file its
// bill of materials, and SHA256SUMS of all. Fails if the server's package is heavier than its limits.
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { npm, ROOT } from './command.mjs';
import { excessOf } from './packed-size.mjs';
import { billOfMaterials } from './sbom.mjs';

const folder = resolve(process.argv[2] ?? join(ROOT, 'temp/packed'));

rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
for (const part of [ROOT, join(ROOT, 'react')]) {
  const [packed] = JSON.parse(npm(['pack', '--json', '--pack-destination', folder], part));
  const { filename, entryCount } = packed;
  const excess = excessOf(packed);
  if (excess !== undefined) throw new Error(excess);
  const { bill, counts } = billOfMaterials(join(folder, filename));
  writeFileSync(join(folder, filename.replace(/\.tgz$/, '.cdx.json')), `${JSON.stringify(bill, null, 2)}\n`);
  console.log(`${filename}: ${packed.size} bytes, ${packed.unpackedSize} unpacked, ${entryCount} files`);
  console.log(`  bill of materials: ${counts.installed} installed, ${counts.bundled} bundled, ${counts.all} in all`);
}
const sums = readdirSync(folder).map((file) => {
  const sum = createHash('sha256')
    .update(readFileSync(join(folder, file)))
    .digest('hex');
  return `${sum}  ${file}\n`;
});
writeFileSync(join(folder, 'SHA256SUMS'), sums.join(''));
