import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { PROJECT_DIR } from '../system/boot-system.ts';

/**
 * Never dependencies of the project: installed when the bench asks for them, in a folder that git
 * does not see.
 */
const PEERS = {
  '@restatedev/restate-server': '1.7.12',
  '@restatedev/restate-sdk': '1.17.2',
  '@dbos-inc/dbos-sdk': '5.3.0',
} as const;

export type PeerPackage = keyof typeof PEERS;

const DIR = path.join(PROJECT_DIR, 'node_modules', '.cache', 'headwater-bench-peers');

/**
 * Installs packages that are missing in these versions. Needs npm's registry the first time, and
 * runs no package scripts.
 */
export function installPeers(): void {
  const wanted = JSON.stringify({ private: true, dependencies: PEERS });
  const manifest = path.join(DIR, 'package.json');
  const done = path.join(DIR, 'installed.json');
  if (existsSync(done) && readFileSync(done, 'utf8') === wanted) return;
  mkdirSync(DIR, { recursive: true });
  writeFileSync(manifest, wanted);
  execFileSync('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--silent'], {
    cwd: DIR,
    stdio: 'inherit',
  });
  writeFileSync(done, wanted);
}

/**
 * Exports of the package. Its types are not installed, so the caller declares those that it uses.
 */
export async function importPeer<T>(name: PeerPackage): Promise<T> {
  return (await import(pathToFileURL(requireHere().resolve(name)).href)) as T;
}

/** The server that the package for this machine brings. */
export function restateBinary(): string {
  const of = `@restatedev/restate-server-${process.platform}-${process.arch}`;
  return path.join(path.dirname(requireHere().resolve(`${of}/package.json`)), 'bin', 'restate-server');
}

function requireHere(): NodeJS.Require {
  return createRequire(path.join(DIR, 'package.json'));
}
