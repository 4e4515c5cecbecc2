import type * as koffi from 'koffi';
import { allowOnly, INSTRUCTION_BYTES, refuseOnly } from './filter-program.ts';
import { findBundlerSyscalls } from './find-bundler-syscalls.ts';
import { allowedSyscalls, filterArch, refusedSyscalls, SECCOMP } from './syscalls.ts';

/**
 * Used part of koffi's native module. It loads without the rest, because a sandbox process may read
 * no file.
 */
type NativeKoffi = Pick<typeof koffi, 'load' | 'struct'>;

/** Makes a system call by its number; -1 if it fails. */
export type Syscall = (number: number, a: number, b: number, c: number) => number;

const PR_SET_NO_NEW_PRIVS = 38;
const SET_MODE_FILTER = 1;
/** Applies the filter to all threads of the process, not only to the calling one. */
const ALL_THREADS = 1;

/**
 * From here on this process can do next to nothing outside of itself: see `allowedSyscalls`. It
 * cannot be undone. The process has to have been started by one that called `refuseToChildren`.
 * `koffiPath` is that of koffi's native part. Throws where a filter cannot be installed; answers
 * what makes system calls, to try it.
 */
export function allowOnlyNeededCalls(koffiPath: string): Syscall {
  return install(koffiPath, (arch) => allowOnly(arch, allowedSyscalls(arch, process.pid)));
}

/**
 * Refuses system calls that none of the child processes needs (`refusedSyscalls`). io_uring is
 * among these: Node sets it up at its start if it can, and could not continue under its own filter
 * then.
 */
export function refuseToChildren(koffiPath: string): void {
  install(koffiPath, (arch) => refuseOnly(arch, refusedSyscalls(arch)));
}

/**
 * Prevents this process and its children from listing folders and from reaching servers on this
 * machine. They can still open files by name.
 */
export function refuseToBundler(koffiPath: string): void {
  install(koffiPath, (arch) => refuseOnly(arch, findBundlerSyscalls(arch)));
}

function install(koffiPath: string, make: (arch: 'x64' | 'arm64') => Buffer): Syscall {
  const arch = filterArch();
  if (arch === undefined) throw new Error(`No filter is known for ${process.platform} on ${process.arch}`);
  const addon = { exports: {} as NativeKoffi };
  process.dlopen(addon, koffiPath);
  const { load, struct } = addon.exports;
  struct('sock_fprog', { len: 'uint16', filter: 'void *' });
  const libc = load(null);
  const prctl = libc.func('int prctl(int option, ulong a, ulong b, ulong c, ulong d)');
  const seccomp = libc.func('long syscall(long number, uint operation, uint flags, sock_fprog *program)');
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) !== 0) throw new Error('Privileges cannot be given up for good');
  const filter = make(arch);
  const program = { len: filter.length / INSTRUCTION_BYTES, filter };
  const answer = seccomp(SECCOMP[arch], SET_MODE_FILTER, ALL_THREADS, program) as number;
  if (answer !== 0) throw new Error(`The kernel took no filter of system calls: ${answer}`);
  return libc.func('long syscall(long number, long a, long b, long c)');
}
