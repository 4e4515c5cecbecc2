import type { Socket } from 'node:net';
import { bundleProbe } from './bundle-probe.ts';
import { findKoffi } from '../syscall-filter/find-koffi.ts';
import type { ProcessEnd, ProcessStarter } from '../starter/starter.ts';
import { BOOT_NICE } from './cpu-priority.ts';
import type { Findings } from './findings.ts';
import { isForEverybody, nodeCommand } from './node-command.ts';

const PROBE_MS = 5_000;

/** Path of koffi, if a process can filter its system calls with it; else undefined. */
export async function findFilter(found: Findings, starter: ProcessStarter): Promise<string | undefined> {
  const koffiPath = findKoffi();
  if (koffiPath === undefined || (found.users !== undefined && !isForEverybody(koffiPath))) return undefined;
  const script = await bundleProbe();
  const user = found.users?.take();
  const code = await new Promise<number | null>((resolve) => {
    const order = { ...nodeCommand(found, user, [koffiPath]), environment: {}, script, sessionNice: BOOT_NICE };
    const events = {
      started: (_: number, channel: Socket) => void channel.resume(),
      ended: (end: ProcessEnd) => resolve(end.code),
    };
    const probe = starter.start(order, events);
    setTimeout(() => probe.kill(), PROBE_MS).unref();
  });
  if (user !== undefined) found.users?.giveBack(user);
  return code === 0 ? koffiPath : undefined;
}
