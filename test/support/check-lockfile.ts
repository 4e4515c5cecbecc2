import { readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';

/**
 * Members of an entry in package-lock.json, version 3, that this script reads. Keys are folders
 * such as `node_modules/zod`.
 */
interface LockEntry {
  version?: string;
  resolved?: string;
  dev?: boolean;
  optional?: boolean;
  hasInstallScript?: boolean;
  os?: string[];
  cpu?: string[];
  libc?: string[];
  optionalDependencies?: Record<string, string>;
}

interface Lockfile {
  packages: Record<string, LockEntry>;
}

/** An optional package that its parent asks for and the lock does not hold. */
interface Gap {
  parent: string;
  name: string;
  version: string;
}

/**
 * Problems that would break or weaken `npm ci` elsewhere, one line each:
 * - the address of one registry;
 * - a missing package of a platform. npm silently omits it if the local registry lacks that
 *   platform, and `npm ci` then refuses the lock on every platform;
 * - an install script that is neither allowed nor refused.
 */
function findProblems(lock: Lockfile, allowScripts: Record<string, boolean>): string[] {
  const problems = findGaps(lock).map(
    ({ parent, name, version }) => `${parent}: ${name}@${version} is missing; add it with: npm run fix:lockfile`,
  );
  for (const [path, { resolved, hasInstallScript }] of Object.entries(lock.packages)) {
    if (resolved !== undefined && /^[a-z+]+:/.test(resolved)) problems.push(`${path}: remove "resolved": ${resolved}`);
    const name = packageName(path);
    if (hasInstallScript === true && allowScripts[name] === undefined) {
      problems.push(`${path}: runs an install script; say in allowScripts of package.json whether ${name} may`);
    }
  }
  return problems;
}

function packageName(path: string): string {
  return path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
}

function findGaps({ packages }: Lockfile): Gap[] {
  return Object.entries(packages).flatMap(([parent, { optionalDependencies = {} }]) =>
    Object.entries(optionalDependencies)
      .filter(([name]) => !lookupFolders(parent).some((folder) => `${folder}node_modules/${name}` in packages))
      .map(([name, version]) => ({ parent, name, version })),
  );
}

/**
 * Folders where Node looks for a package's imports: its own node_modules, then those of its parent
 * folders, up to the root.
 */
function lookupFolders(path: string): string[] {
  const outer = path.lastIndexOf('/node_modules/');
  return path === '' ? [''] : [`${path}/`, ...lookupFolders(outer < 0 ? '' : path.slice(0, outer))];
}

/**
 * The lock with its gaps filled as far as the version is exact. Version and platform follow from
 * the parent and the name; the checksum does not, so for these npm trusts the registry until an
 * install on such a platform adds it.
 */
function fillGaps(lock: Lockfile): Lockfile {
  const packages = { ...lock.packages };
  for (const { parent, name, version } of findGaps(lock)) {
    if (!/^\d+\.\d+\.\d+/.test(version)) continue;
    const dev = packages[parent]?.dev === true ? { dev: true } : {};
    packages[`node_modules/${name}`] = { version, ...platformOf(name), ...dev, optional: true };
  }
  const sorted = Object.entries(packages).sort(([a], [b]) => a.localeCompare(b, 'en'));
  return { ...lock, packages: Object.fromEntries(sorted) };
}

const SYSTEMS = ['aix', 'android', 'darwin', 'freebsd', 'linux', 'openharmony', 'sunos', 'win32', 'windows'];
const PROCESSORS = ['arm64', 'arm', 'ia32', 'loong64', 'ppc64', 'riscv64', 's390x', 'x64', '64'];

/**
 * Reads `linux-x64-musl` or `windows-64` as the fields by which npm decides whether a package fits
 * the machine.
 */
function platformOf(name: string): Pick<LockEntry, 'cpu' | 'libc' | 'os'> {
  const words = name.slice(name.indexOf('/') + 1).split('-');
  const system = words.find((word) => SYSTEMS.includes(word));
  const processor = words.find((word) => PROCESSORS.includes(word));
  const libc = words.map(libcOf).find((found) => found !== undefined);
  return {
    ...(processor === undefined ? {} : { cpu: [processor === '64' ? 'x64' : processor] }),
    ...(libc === undefined || system !== 'linux' ? {} : { libc: [libc] }),
    ...(system === undefined ? {} : { os: [system === 'windows' ? 'win32' : system] }),
  };
}

function libcOf(word: string): 'glibc' | 'musl' | undefined {
  if (word.startsWith('musl')) return 'musl';
  return word.startsWith('gnu') ? 'glibc' : undefined;
}

const lockPath = resolve('package-lock.json');
let lock = JSON.parse(readFileSync(lockPath, 'utf8')) as Lockfile;
if (process.argv.includes('--write')) {
  lock = fillGaps(lock);
  writeFileSync(lockPath, `${JSON.stringify(lock, null, 2)}\n`);
}
const manifest = JSON.parse(readFileSync(resolve('package.json'), 'utf8')) as {
  allowScripts?: Record<string, boolean>;
};
const problems = findProblems(lock, manifest.allowScripts ?? {});
for (const problem of problems) console.log(`package-lock.json: ${problem}`);
if (problems.length > 0) process.exitCode = 1;
