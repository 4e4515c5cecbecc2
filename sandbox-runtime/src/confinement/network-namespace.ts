import type { Prefix } from './command-prefix.ts';

export type { Prefix } from './command-prefix.ts';

/**
 * With the network go System V's shared memory and the host's name, of which each namespace has its
 * own. The user namespace is for a node that is not root's: in one it may make the others. Some
 * systems forbid it.
 */
const WAYS: readonly Prefix[] = [
  ['unshare', '--net', '--ipc', '--uts', '--'],
  ['unshare', '--net', '--ipc', '--uts', '--map-root-user', '--'],
  ['unshare', '--net', '--'],
  ['unshare', '--net', '--map-root-user', '--'],
];

/**
 * Ways to start a process in its own network namespace, without even an active loopback. Code that
 * breaks out of an isolate then reaches no network. Linux only, and not in every container.
 */
export const networkWays = (): readonly Prefix[] => (process.platform === 'linux' ? WAYS : []);
