/** Data kept for one version of a package: enough to place it and to fetch it. */
export interface Manifest {
  version: string;
  tarball: string;
  /** Subresource integrity; `sha1-…` for packages from before the registry had better. */
  integrity: string;
  dependencies: Record<string, string>;
  optionalDependencies: Record<string, string>;
  /** Without those that are marked as optional. */
  peerDependencies: Record<string, string>;
  /** Are in the tarball. */
  bundled: string[];
  /** Made for some systems only, or by an install script: nothing that runs in an isolate. */
  isNative: boolean;
  deprecated: boolean;
}

/** A package as the registry knows it. */
export interface Packument {
  tags: Record<string, string>;
  versions: Record<string, Manifest>;
}

type Raw = Record<string, unknown>;

const INTEGRITY = /^sha(?:512|384|256|1)-[A-Za-z0-9+/=]+$/;

/** Reads a registry's answer and leaves out invalid parts. */
export function readPackument(answer: unknown): Packument {
  const raw = asObject(answer);
  const versions: Record<string, Manifest> = {};
  for (const [version, entry] of Object.entries(asObject(raw['versions']))) {
    const manifest = readManifest(version, asObject(entry));
    if (manifest !== undefined) versions[version] = manifest;
  }
  return { tags: asStrings(raw['dist-tags']), versions };
}

/** Whether a stored value has the form that `readPackument` makes; other values are not read. */
export function isPackument(value: unknown): value is Packument {
  const { tags, versions } = asObject(value);
  return areStrings(tags) && isObject(versions) && Object.values(versions).every(isManifest);
}

function isManifest(value: unknown): boolean {
  const { version, tarball, integrity, bundled, isNative, deprecated, ...wanted } = asObject(value);
  return (
    [version, tarball].every((text) => typeof text === 'string') &&
    isIntegrity(integrity) &&
    ['dependencies', 'optionalDependencies', 'peerDependencies'].every((kind) => areStrings(wanted[kind])) &&
    Array.isArray(bundled) &&
    [isNative, deprecated].every((flag) => typeof flag === 'boolean')
  );
}

/** Whether it names a checksum that can be checked. */
export function isIntegrity(value: unknown): value is string {
  return typeof value === 'string' && INTEGRITY.test(value);
}

function readManifest(version: string, raw: Raw): Manifest | undefined {
  const dist = asObject(raw['dist']);
  const integrity = integrityOf(dist);
  if (typeof dist['tarball'] !== 'string' || integrity === undefined) return undefined;
  const optional = asStrings(raw['optionalDependencies']);
  const peerMeta = asObject(raw['peerDependenciesMeta']);
  const isOptionalPeer = (name: string): boolean => asObject(peerMeta[name])['optional'] === true;
  const bundled = raw['bundleDependencies'] ?? raw['bundledDependencies'];
  return {
    version,
    tarball: dist['tarball'],
    integrity,
    // The registry lists optional ones among the dependencies as well.
    dependencies: without(asStrings(raw['dependencies']), (name) => Object.hasOwn(optional, name)),
    optionalDependencies: optional,
    peerDependencies: without(asStrings(raw['peerDependencies']), isOptionalPeer),
    bundled: Array.isArray(bundled) ? bundled.filter((name) => typeof name === 'string') : [],
    isNative: Array.isArray(raw['os']) || Array.isArray(raw['cpu']) || hasInstallScript(raw),
    deprecated: typeof raw['deprecated'] === 'string' && raw['deprecated'] !== '',
  };
}

function integrityOf(dist: Raw): string | undefined {
  const { integrity, shasum } = dist;
  const strong =
    typeof integrity === 'string' ? /sha(?:512|384|256)-[A-Za-z0-9+/=]{40,}/.exec(integrity)?.[0] : undefined;
  if (strong !== undefined) return strong;
  if (typeof shasum === 'string' && /^[0-9a-f]{40}$/i.test(shasum))
    return `sha1-${Buffer.from(shasum, 'hex').toString('base64')}`;
  return undefined;
}

function hasInstallScript(raw: Raw): boolean {
  const scripts = asObject(raw['scripts']);
  return raw['hasInstallScript'] === true || ['preinstall', 'install', 'postinstall'].some((name) => name in scripts);
}

function without(all: Record<string, string>, drop: (name: string) => boolean): Record<string, string> {
  return Object.fromEntries(Object.entries(all).filter(([name]) => !drop(name)));
}

function asObject(value: unknown): Raw {
  return isObject(value) ? value : {};
}

function isObject(value: unknown): value is Raw {
  return typeof value === 'object' && value !== null;
}

function areStrings(value: unknown): boolean {
  return isObject(value) && Object.values(value).every((text) => typeof text === 'string');
}

function asStrings(value: unknown): Record<string, string> {
  const entries = Object.entries(asObject(value)).filter(
    (entry): entry is [string, string] => typeof entry[1] === 'string',
  );
  return Object.fromEntries(entries);
}
