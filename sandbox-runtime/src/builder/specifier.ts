import semver from 'semver';

/**
 * Parsed import string of a component: `lodash@^4/get` is `{ name: 'lodash', range: '^4', subpath:
 * '/get' }`.
 */
export interface PackageSpecifier {
  /** The import string as it was written. */
  text: string;
  name: string;
  /** A version, a range or a dist-tag; `latest` where none was given. */
  range: string;
  /** Empty, or what follows the package with its slash. */
  subpath: string;
}

export type SpecifierOutcome = { ok: true; specifier: PackageSpecifier } | { ok: false; reason: string };

/** Dependency in package.json, which may be an alias for another package. */
export interface VersionRequest {
  name: string;
  range: string;
}

const MAX_NAME_CHARS = 214;
export const MAX_SPECIFIER_CHARS = 1_024;
const MAX_RANGE_CHARS = 512;
const PACKAGE_NAME = /^(?:@[a-z0-9~-][a-z0-9._~-]*\/)?[a-z0-9~-][a-z0-9._~-]*$/i;
const DIST_TAG = /^[a-z][a-z0-9._-]*$/i;
const PARTS = /^((?:@[^/@]+\/)?[^/@]+)(?:@([^/]*))?(\/.*)?$/;

/** Reads an import string that is neither relative nor a module of Node. */
export function parseSpecifier(text: string): SpecifierOutcome {
  if (text.length > MAX_SPECIFIER_CHARS)
    return { ok: false, reason: `it has more than ${MAX_SPECIFIER_CHARS} characters` };
  if (text.startsWith('/') || text.startsWith('.') || text.includes('\\'))
    return { ok: false, reason: 'files of the server cannot be imported' };
  const scheme = /^([a-z][a-z0-9+.-]*):/i.exec(text)?.[1];
  if (scheme !== undefined) return { ok: false, reason: `imports from ${scheme}: addresses are not available` };
  const [, name = '', range = 'latest', subpath = ''] = PARTS.exec(text) ?? [];
  if (!isPackageName(name)) return { ok: false, reason: 'this is not the name of a package' };
  if (subpath.split('/').some((part) => part === '..' || part === '.'))
    return { ok: false, reason: 'a path inside a package cannot contain dots' };
  if (!isRegistryRange(range))
    return { ok: false, reason: `"${range}" is not a version, a range or a tag of the registry` };
  return { ok: true, specifier: { text, name, range, subpath } };
}

/**
 * Whether a version is named to the last digit, so that the same code cannot mean another version
 * tomorrow.
 */
export function isExact({ range }: { range: string }): boolean {
  return semver.valid(range) !== null;
}

/**
 * Reads the version of a dependency in a package.json; undefined if it leads outside the registry.
 */
export function parseVersionRequest(name: string, wanted: string): VersionRequest | undefined {
  const [, aliasName, aliasRange] = /^npm:((?:@[^/@]+\/)?[^/@]+)(?:@(.*))?$/.exec(wanted) ?? [];
  const request =
    aliasName === undefined ? { name, range: wanted.trim() } : { name: aliasName, range: aliasRange ?? '' };
  if (!isPackageName(name) || !isPackageName(request.name)) return undefined;
  return isRegistryRange(request.range) ? request : undefined;
}

function isPackageName(name: string): boolean {
  return name.length <= MAX_NAME_CHARS && PACKAGE_NAME.test(name) && name !== 'node_modules';
}

function isRegistryRange(range: string): boolean {
  if (range.length > MAX_RANGE_CHARS) return false;
  return semver.validRange(range, { loose: true }) !== null || DIST_TAG.test(range);
}
