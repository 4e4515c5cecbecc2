import { execFile } from 'node:child_process';
import { chmod, chown, lstat, readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { HeadwaterError } from '@headwater/shared';
import type { PostgresBinaries } from './postgres-binaries.ts';

const run = promisify(execFile);

/** As whom the server runs. Postgres refuses to run as root, and it must own its data folder. */
export interface ServerIdentity {
  name: string;
  /**
   * Goes before the command; it ends in exec, so the pid of the spawned child is the server's own.
   */
  prefix: readonly string[];
  /** Given to spawn. */
  spawnAs: { uid?: number; gid?: number };
  /** Owner of the data folder. Undefined: the owner is not changed. */
  owner?: { uid: number; gid: number };
  /** The server has no rights beyond its own: it must be able to walk into the data directory. */
  needsOpenDataDir: boolean;
}

const NOBODY = 65534;
const PROBE_TIMEOUT_MS = 5_000;

/**
 * The first identity that can execute the server and enter its data directory. Root tries these in
 * order:
 * - a user namespace in which root looks like the user `nobody`; files stay root's
 * - the user `nobody`, with the right to pass file permissions
 * - a plain switch of user
 *
 * Other users run the server as themselves. Throws UNAVAILABLE with the identities tried.
 */
export async function findServerIdentity(
  dataDir: string,
  binaries: PostgresBinaries,
  candidates?: readonly ServerIdentity[],
): Promise<ServerIdentity> {
  const tried: string[] = [];
  for (const identity of candidates ?? (await defaultIdentities())) {
    const problem = await probe(identity, dataDir, binaries);
    if (problem === undefined) return identity;
    tried.push(`${identity.name}: ${problem}`);
  }
  throw new HeadwaterError(
    'UNAVAILABLE',
    `The embedded Postgres cannot be run. Tried ${tried.join('; ')}. ` +
      'Start Headwater as a user other than root, or set DATABASE_URL to a Postgres server.',
  );
}

const defaultIdentities = async () => (process.getuid?.() === 0 ? rootIdentities() : [sameUser]);

const sameUser: ServerIdentity = { name: 'this user', prefix: [], spawnAs: {}, needsOpenDataDir: false };

/** The ways in which root can run the server, best first. Exported for tests. */
export async function rootIdentities(): Promise<ServerIdentity[]> {
  const users = await readUsers();
  const nobody = users.get('nobody') ?? { uid: NOBODY, gid: NOBODY };
  const plain = users.get('postgres') ?? nobody;
  return [
    {
      name: 'user namespace',
      prefix: ['unshare', '-U', `--map-user=${NOBODY}`, `--map-group=${NOBODY}`],
      spawnAs: {},
      owner: { uid: 0, gid: 0 },
      needsOpenDataDir: false,
    },
    {
      name: 'setpriv',
      prefix: [
        'setpriv',
        `--reuid=${nobody.uid}`,
        `--regid=${nobody.gid}`,
        '--clear-groups',
        '--inh-caps=+dac_override',
        '--ambient-caps=+dac_override',
      ],
      spawnAs: {},
      owner: nobody,
      needsOpenDataDir: false,
    },
    { name: 'another user', prefix: [], spawnAs: plain, owner: plain, needsOpenDataDir: true },
  ];
}

async function readUsers(): Promise<Map<string, { uid: number; gid: number }>> {
  // The file is missing where users come from elsewhere (macOS): then the numeric default of
  // `nobody` applies.
  const passwd = await readFile('/etc/passwd', 'utf8').catch(() => '');
  const users = new Map<string, { uid: number; gid: number }>();
  for (const line of passwd.split('\n')) {
    const [name, , uid, gid] = line.split(':');
    if (name && uid && gid) users.set(name, { uid: Number(uid), gid: Number(gid) });
  }
  return users;
}

/** Undefined where the user comes from elsewhere than /etc/passwd. */
export async function nameOfUser(uid: number): Promise<string | undefined> {
  for (const [name, user] of await readUsers()) if (user.uid === uid) return name;
  return undefined;
}

/**
 * Undefined when it works, else what went wrong. One short process: enter the folder, load the
 * server's libraries.
 */
async function probe(id: ServerIdentity, dataDir: string, binaries: PostgresBinaries): Promise<string | undefined> {
  const closed =
    id.spawnAs.uid !== undefined || id.prefix[0] === 'setpriv' ? await closedFolder(binaries.postgres) : undefined;
  if (closed !== undefined) return `other users cannot enter ${closed}, where the server's program is`;
  // Passing through, not listing or reading: the files in it have modes of their own.
  if (id.needsOpenDataDir) await chmod(dataDir, (await lstat(dataDir)).mode | 0o011);
  const script = 'cd "$1" && exec "$2" --version';
  const [command, args] = asIdentity(id, '/bin/sh', ['-c', script, 'sh', dataDir, binaries.postgres]);
  try {
    await run(command, args, { env: binaries.env, cwd: '/', timeout: PROBE_TIMEOUT_MS, ...id.spawnAs });
    return undefined;
  } catch (error) {
    const { stderr, message } = error as Error & { stderr?: string };
    return (stderr || message).trim().split('\n')[0] ?? 'failed';
  }
}

/**
 * The folder on the way to `file` that other users cannot pass. Postgres asks for its own program
 * with access(2), which knows no capabilities: a right to pass file permissions does not help
 * there.
 */
export async function closedFolder(file: string): Promise<string | undefined> {
  for (let dir = path.dirname(file); ; dir = path.dirname(dir)) {
    if (((await lstat(dir)).mode & 0o001) === 0) return dir;
    if (dir === path.dirname(dir)) return undefined;
  }
}

export function asIdentity(id: ServerIdentity, bin: string, args: readonly string[]): [string, string[]] {
  const [command, ...rest] = [...id.prefix, bin, ...args];
  return [command as string, rest];
}

/**
 * Makes `file` and everything in it the server's. Looks at the top only when that is right already.
 */
export async function giveToServer(id: ServerIdentity, file: string): Promise<void> {
  if (id.owner === undefined) return;
  const { uid, gid } = id.owner;
  if ((await lstat(file)).uid === uid) return;
  // The top folder comes last: a kill in between leaves it with the old owner, and the next start
  // does it all again.
  await run('chown', ['-R', '-h', `${uid}:${gid}`, '--', ...(await childrenOf(file))]);
  await chown(file, uid, gid);
}

async function childrenOf(file: string): Promise<string[]> {
  if (!(await lstat(file)).isDirectory()) return [file];
  const names = await readdir(file);
  return names.length === 0 ? [file] : names.map((name) => path.join(file, name));
}
