import { closeSync, constants, openSync, readFileSync } from 'node:fs';
import { canKill, works } from './command-prefix.ts';
import type { Findings } from './findings.ts';
import { ADDON_FD, isForEverybody, NODE_FD, prefixOf } from './node-command.ts';
import { findUserIds, type UserIds } from './user-ids.ts';

/**
 * Users for processes, where this one is root's, or why there are none. Node's program and the addon may be in a folder that nobody
 * else may enter: the process gets both as open files.
 */
export async function findUsers(found: Findings, addonPath: string): Promise<UserIds | string> {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return 'needs root';
  if (found.privileges.length === 0) return 'setpriv is missing';
  if ([process.execPath, addonPath].some((path) => !isForEverybody(path)))
    return "other users may not read this node's programs";
  const users = findUserIds(readFileSync('/proc/self/uid_map', 'utf8'), readFileSync('/proc/self/gid_map', 'utf8'));
  if (users === undefined) return 'other users have no ids here';
  const user = users.take();
  const why = await whyNotAs(user, found, addonPath);
  users.giveBack(user);
  return why ?? users;
}

async function whyNotAs(user: number, found: Findings, addonPath: string): Promise<string | undefined> {
  const prefix = prefixOf(found, user);
  const load = `process.dlopen({ exports: {} }, '${ADDON_FD}')`;
  const files = [process.execPath, addonPath].map((path) => openSync(path, constants.O_RDONLY));
  const loads = await works([...prefix, NODE_FD, '--permission', '--allow-addons', '--no-warnings', '-e', load], files);
  for (const file of files) closeSync(file);
  if (!loads) return "this node's programs do not start as another user";
  // Root may be given the right to become others without the one to signal them.
  return (await canKill(prefix)) ? undefined : 'processes of other users cannot be killed, see CAP_KILL';
}
