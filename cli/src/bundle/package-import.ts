import { isBuiltin } from 'node:module';

/** An import of a package or of Node itself: nothing that lies beside the component. */
export function isPackage(specifier: string): boolean {
  return !/^(?:\.{1,2}(?:\/|$)|\/|[a-zA-Z]:\\)/.test(specifier);
}

/** Packages that the server brings itself. */
const OWN = '@headwater/';
const PACKAGE = /^((?:@[^/@]+\/)?[^/@]+)(@[^/]+)?(\/.*)?$/;
/**
 * Ranges that the npm registry understands. Folders, files and repositories exist only on this
 * machine.
 */
const RANGE = /^[\^~]?\d+(?:\.\d+){0,2}[\w.+-]*$/;

/**
 * `pkg/sub` → `pkg@^1.2.3/sub`, where a version is asked for and none is written down in the
 * import.
 */
export function withVersion(specifier: string, versionOf: (name: string) => string | undefined): string {
  const [, name, version, rest = ''] = PACKAGE.exec(specifier) ?? [];
  if (name === undefined || version !== undefined || specifier.includes(':') || isBuiltin(specifier)) return specifier;
  const range = name.startsWith(OWN) ? undefined : versionOf(name);
  return range === undefined || !RANGE.test(range) ? specifier : `${name}@${range}${rest}`;
}
