// Installs what is missing of everything the checks look at: the project's own packages, and those that only tests need.
import { CLIENTS, ensureInstalled, FRAMEWORKS } from './installation.mjs';

await ensureInstalled();
for (const folder of [FRAMEWORKS, CLIENTS]) await ensureInstalled(folder);
