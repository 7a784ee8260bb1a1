/** What the demo runs on besides this package; nothing else needs them. */
const NAMES = ['express', 'express-session', '@a2a-js/sdk', 'oidc-provider'] as const;
/** One that `npx` installed for this run alone is in a folder of this name. */
const NPX_FOLDER = /[\\/]_npx[\\/]/;

/** Where the package is, and what it was made with. */
export interface InstalledPackage {
  /** Address of one of its files. */
  readonly url: string;
  readonly devDependencies: Readonly<Record<string, string>>;
  readonly resolve: (name: string) => string;
}

/** The command that brings the packages the demo still needs; `undefined` when all are there. */
export function missingPackagesCommand({ url, devDependencies, resolve }: InstalledPackage): string | undefined {
  const missing = NAMES.filter((name) => !isInstalled(name, resolve)).map(
    (name) => `${name}@${devDependencies[name] ?? 'latest'}`,
  );
  if (missing.length === 0) return undefined;
  if (!NPX_FOLDER.test(url)) return `npm install ${missing.join(' ')}`;
  return `npx ${['agent-bff', ...missing].map((name) => `-p ${name}`).join(' ')} agent-bff demo`;
}

function isInstalled(name: string, resolve: InstalledPackage['resolve']): boolean {
  try {
    resolve(name);
    return true;
  } catch (error) {
    // A package may be there and show nothing under its own name.
    return (error as NodeJS.ErrnoException).code === 'ERR_PACKAGE_PATH_NOT_EXPORTED';
  }
}
