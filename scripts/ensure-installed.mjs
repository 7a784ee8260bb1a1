// Installs what is missing of everything the checks look at: the project's own packages, and those that only tests need.
import { ensureInstalled, TEST_PACKAGES } from './installation.mjs';

await ensureInstalled();
for (const folder of TEST_PACKAGES) await ensureInstalled(folder);
