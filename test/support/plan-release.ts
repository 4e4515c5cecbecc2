import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import semver from 'semver';

/** A file of the repository as the release leaves it. */
interface ReleasedFile {
  name: string;
  text: string;
}

export type ReleasePlan = { problems: string[] } | { problems: []; tag: string; files: ReleasedFile[]; notes: string };

const CHANGELOG = 'CHANGELOG.md';
const UNRELEASED = '## Unreleased\n';
const USER_AGENT = 'engine/src/egress/user-agent.ts';

interface Package {
  name?: string;
  version?: string;
  workspaces?: string[];
  [field: string]: unknown;
}

/** Everything that a release of `version` changes in the clone `root`, or why there can be none. */
export function planRelease(root: string, version: string, date: string): ReleasePlan {
  const read = (name: string) => readFileSync(path.join(root, name), 'utf8');
  const git = (...args: string[]) => execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim();
  const problems = findProblems(version, read, git);
  if (problems.length > 0) return { problems };
  const { text: changelog, notes } = cutChangelog(read(CHANGELOG), version, date);
  const files = [
    ...packageFiles(read, version),
    { name: USER_AGENT, text: read(USER_AGENT).replace(/Headwater\/[\w.-]+/, `Headwater/${version}`) },
    { name: CHANGELOG, text: changelog },
  ];
  return { problems: [], tag: `v${version}`, files, notes };
}

function findProblems(version: string, read: (name: string) => string, git: (...args: string[]) => string): string[] {
  if (semver.valid(version) !== version) return [`"${version}" is no version such as 0.2.0`];
  const problems: string[] = [];
  const changed = git('status', '--porcelain');
  if (changed !== '') problems.push(`the tree is not clean: commit or remove\n${changed}`);
  const tags = git('tag', '--list', 'v*')
    .split('\n')
    .filter((tag) => semver.valid(tag));
  const [newest] = tags.toSorted(semver.rcompare);
  if (newest !== undefined && !semver.gt(version, newest)) problems.push(`${version} does not follow ${newest}`);
  const { version: current = '' } = JSON.parse(read('package.json')) as Package;
  if (semver.lt(version, current)) problems.push(`${version} is older than ${current} of package.json`);
  const unreleased = unreleasedOf(read(CHANGELOG));
  if (unreleased === undefined) problems.push(`${CHANGELOG} has no section "Unreleased"`);
  if (unreleased === '') problems.push(`nothing is in the section "Unreleased" of ${CHANGELOG}`);
  return problems;
}

function unreleasedOf(changelog: string): string | undefined {
  return changelog.split(UNRELEASED)[1]?.split('\n## ')[0]?.trim();
}

function cutChangelog(changelog: string, version: string, date: string): { text: string; notes: string } {
  const text = changelog.replace(UNRELEASED, `${UNRELEASED}\n## ${version} (${date})\n`);
  return { text, notes: unreleasedOf(changelog) ?? '' };
}

/** The root, its workspaces with what they ask of each other, and the lock file. */
function packageFiles(read: (name: string) => string, version: string): ReleasedFile[] {
  const root = JSON.parse(read('package.json')) as Package;
  const folders = root.workspaces ?? [];
  const packages = folders.map((folder) => ({ folder, value: JSON.parse(read(`${folder}/package.json`)) as Package }));
  const own = new Set(packages.map(({ value }) => value.name ?? ''));
  const raised = (value: Package) => withVersion(value, own, version);
  const lock = JSON.parse(read('package-lock.json')) as Package & { packages: Record<string, Package> };
  for (const folder of ['', ...folders]) lock.packages[folder] = raised(lock.packages[folder] ?? {});
  return [
    { name: 'package.json', text: jsonText(raised(root)) },
    ...packages.map(({ folder, value }) => ({ name: `${folder}/package.json`, text: jsonText(raised(value)) })),
    { name: 'package-lock.json', text: jsonText({ ...lock, version }) },
  ];
}

function withVersion(value: Package, own: ReadonlySet<string>, version: string): Package {
  const changed: Package = 'version' in value ? { ...value, version } : { ...value };
  for (const field of ['dependencies', 'devDependencies', 'peerDependencies']) {
    const asked = value[field] as Record<string, string> | undefined;
    if (asked === undefined) continue;
    const pairs = Object.entries(asked).map(([name, range]) => [name, own.has(name) ? version : range]);
    changed[field] = Object.fromEntries(pairs);
  }
  return changed;
}

const jsonText = (value: object) => `${JSON.stringify(value, null, 2)}\n`;
