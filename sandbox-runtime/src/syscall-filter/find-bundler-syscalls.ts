import { type FilterArch, listingSyscalls } from './syscalls.ts';

/**
 * Calls that make or connect a socket. A bundler's network namespace isolates only sockets with a
 * port. Sockets with a path reach local servers of the node's user, such as a database or a
 * container service that runs as root.
 */
const SOCKETS: Record<string, Record<FilterArch, number>> = {
  socket: { x64: 41, arm64: 198 },
  connect: { x64: 42, arm64: 203 },
  sendto: { x64: 44, arm64: 206 },
  sendmsg: { x64: 46, arm64: 211 },
  sendmmsg: { x64: 307, arm64: 269 },
};

/** System calls that neither the bundler nor Node needs after Node has started. */
export function findBundlerSyscalls(arch: FilterArch): number[] {
  return [...listingSyscalls(arch), ...Object.values(SOCKETS).map((numbers) => numbers[arch])];
}
