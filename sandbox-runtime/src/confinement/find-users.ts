import { closeSync, constants, openSync, readFileSync } from 'node:fs';
import { works } from './command-prefix.ts';
import type { Findings } from './findings.ts';
import { ADDON_FD, isForEverybody, NODE_FD, prefixOf } from './node-command.ts';
import { findRights, type ProcessRights } from './process-rights.ts';
import { findUserIds, type UserIds } from './user-ids.ts';

/**
 * Unused user ids for processes, if this process runs as root, and the rights it has over those
 * users; else the reason why not. Node's program and the addon may be in a folder closed to other
 * users, so the process gets both as open files.
 */
export async function findUsers(
  found: Findings,
  addonPath: string,
): Promise<{ users: UserIds; rights: ProcessRights } | string> {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return 'needs root';
  if (found.privileges.length === 0) return 'setpriv is missing';
  if (found.network.includes('--map-root-user'))
    return 'other users have no ids in the user namespace that the network layer takes here, see CAP_SYS_ADMIN';
  if ([process.execPath, addonPath].some((path) => !isForEverybody(path)))
    return "other users may not read this node's programs";
  const users = findUserIds(readFileSync('/proc/self/uid_map', 'utf8'), readFileSync('/proc/self/gid_map', 'utf8'));
  if (users === undefined) return 'other users have no ids here';
  const user = users.take();
  const rights = await rightsTo(user, found, addonPath);
  users.giveBack(user);
  return typeof rights === 'string' ? rights : { users, rights };
}

async function rightsTo(user: number, found: Findings, addonPath: string): Promise<ProcessRights | string> {
  const prefix = prefixOf(found, user);
  const load = `process.dlopen({ exports: {} }, '${ADDON_FD}')`;
  const files = [process.execPath, addonPath].map((path) => openSync(path, constants.O_RDONLY));
  const loads = await works([...prefix, NODE_FD, '--permission', '--allow-addons', '--no-warnings', '-e', load], files);
  for (const file of files) closeSync(file);
  if (!loads) return "this node's programs do not start as another user";
  // Root may be given the right to become others without the one to signal them.
  const rights = await findRights(prefix);
  return rights.kill ? rights : 'processes of other users cannot be killed, see CAP_KILL';
}
