// Installs missing dependencies of all checks: the project's own packages, and those for tests only.
import { CLIENTS, ensureInstalled, FRAMEWORKS } from './installation.mjs';

await ensureInstalled();
for (const folder of [FRAMEWORKS, CLIENTS]) await ensureInstalled(folder);
