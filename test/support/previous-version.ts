import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { OWN_FOLDER } from '../soak/checkout.ts';

/**
 * The version before this one where no tag of a release leads to it. It runs on the packages that
 * are installed. A release makes it needless: from then on its tag is the version before.
 */
const RECORDED = '3a80afbf9e41730631e5333e2703a07aeab606a7';

const git = (...args: string[]) =>
  execFileSync('git', args, { cwd: OWN_FOLDER, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();

/**
 * The newest release that HEAD comes after, else the recorded commit. Undefined where this clone
 * has no history that contains either.
 */
export function findPreviousVersion(): string | undefined {
  try {
    const releases = git('tag', '--list', 'v*', '--merged', 'HEAD', '--no-contains', 'HEAD', '--sort=-v:refname');
    const [newest = RECORDED] = releases.split('\n').filter(Boolean);
    return git('rev-parse', '--verify', `${newest}^{commit}`);
  } catch {
    // No git, no repository, or a shallow clone.
    return undefined;
  }
}

/** Folders without which nodes run, and that are large. */
const LEFT_OUT = ['bench', 'docs', 'examples', 'test', 'web'];

/**
 * The code of a commit in a new folder, with the packages that are installed here and workspaces of
 * its own. The caller removes the folder.
 */
export function unpackVersion(commit: string): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'headwater-previous-'));
  const archive = path.join(folder, 'code.tar');
  git('archive', '--output', archive, commit, '--', '.', ...LEFT_OUT.map((name) => `:!${name}`));
  execFileSync('tar', ['--extract', '--file', archive, '--directory', folder]);
  const workspaces = readdirSync(folder).filter((name) => existsSync(path.join(folder, name, 'package.json')));
  for (const name of ['', ...workspaces]) linkPackages(folder, name);
  const scope = path.join(folder, 'node_modules/@headwater');
  mkdirSync(scope);
  for (const name of workspaces) symlinkSync(path.join(folder, name), path.join(scope, name));
  return folder;
}

/** Packages that its nodes need and that are not installed here any more. */
export function missingPackages(folder: string): string[] {
  return ['api', 'engine', 'sandbox-runtime', 'shared'].flatMap((workspace) => {
    const manifest = JSON.parse(readFileSync(path.join(folder, workspace, 'package.json'), 'utf8')) as {
      dependencies?: Record<string, string>;
    };
    const places = [path.join(folder, workspace), folder].map((place) => path.join(place, 'node_modules'));
    const isMissing = (name: string) => !places.some((place) => existsSync(path.join(place, name)));
    return Object.keys(manifest.dependencies ?? {}).filter(isMissing);
  });
}

/** Each package by itself: those of this repository must be the ones of the folder. */
function linkPackages(folder: string, workspace: string): void {
  const installed = path.join(OWN_FOLDER, workspace, 'node_modules');
  const linked = path.join(folder, workspace, 'node_modules');
  if (!existsSync(installed)) return;
  mkdirSync(linked);
  for (const name of readdirSync(installed)) {
    if (name !== '@headwater' && name !== '.cache') symlinkSync(path.join(installed, name), path.join(linked, name));
  }
}
