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
  workflow: {
    '@restatedev/restate-server': '1.7.12',
    '@restatedev/restate-sdk': '1.17.2',
    '@dbos-inc/dbos-sdk': '5.3.0',
  },
  workerd: { workerd: '1.20261117.1' },
  'node-red': { 'node-red': '5.0.7' },
} as const;

type PeerSet = keyof typeof PEERS;

export type PeerPackage = keyof (typeof PEERS)['workflow'];

const dirOf = (set: PeerSet) => path.join(PROJECT_DIR, 'node_modules', '.cache', 'headwater-bench-peers', set);

/**
 * Installs packages that are missing in these versions. Needs npm's registry the first time, and
 * runs no package scripts.
 */
export function installPeers(set: PeerSet): void {
  const dir = dirOf(set);
  const wanted = JSON.stringify({ private: true, dependencies: PEERS[set] });
  const manifest = path.join(dir, 'package.json');
  const done = path.join(dir, 'installed.json');
  if (existsSync(done) && readFileSync(done, 'utf8') === wanted) return;
  mkdirSync(dir, { recursive: true });
  writeFileSync(manifest, wanted);
  execFileSync('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--silent'], {
    cwd: dir,
    stdio: 'inherit',
  });
  writeFileSync(done, wanted);
}

/**
 * Exports of the package. Its types are not installed, so the caller declares those that it uses.
 */
export async function importPeer<T>(name: PeerPackage): Promise<T> {
  return (await import(pathToFileURL(requireFrom('workflow').resolve(name)).href)) as T;
}

/** The server that the package for this machine brings. */
export function restateBinary(): string {
  const of = `@restatedev/restate-server-${process.platform}-${process.arch}`;
  return path.join(path.dirname(requireFrom('workflow').resolve(`${of}/package.json`)), 'bin', 'restate-server');
}

const WORKERD_ARCHITECTURES: Partial<Record<NodeJS.Architecture, string>> = { x64: '64', arm64: 'arm64' };

export function workerdBinary(): string {
  const of = `@cloudflare/workerd-${process.platform}-${WORKERD_ARCHITECTURES[process.arch] ?? process.arch}`;
  return requireFrom('workerd').resolve(`${of}/bin/workerd`);
}

export function nodeRedMain(): string {
  return requireFrom('node-red').resolve('node-red/red.js');
}

function requireFrom(set: PeerSet): NodeJS.Require {
  return createRequire(path.join(dirOf(set), 'package.json'));
}
