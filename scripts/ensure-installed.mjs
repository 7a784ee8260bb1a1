// Installs what is missing of everything the checks look at: the project's own packages, and the frameworks of the site suite.
import { ensureInstalled, FRAMEWORKS } from './installation.mjs';

await ensureInstalled();
await ensureInstalled(FRAMEWORKS);
