import type { SandboxLayer } from '../sandbox-types.ts';
import { findHotCores } from './cpu-cores.ts';
import type { ConfinementOptions, Findings } from './findings.ts';

/** Describes each layer for operators: its effect, or why it is missing. */
export function describeLayers(
  found: Findings,
  { controlGroup }: Pick<ConfinementOptions, 'controlGroup'>,
): SandboxLayer[] {
  const layer = (name: SandboxLayer['layer'], active: boolean, does: string, missing: string): SandboxLayer => ({
    layer: name,
    active,
    note: active ? does : missing,
  });
  const { network, users, whyNoUsers, privileges, limits, groups, priority, koffiPath, rights } = found;
  const isLinux = process.platform === 'linux';
  const onLinux = (why: string): string => (isLinux ? why : `not on ${process.platform}`);
  const boundThreads = groups.controllers.has('pids') || (users !== undefined && limits.length > 0);
  return [
    layer('network', network.length > 0, 'no network', onLinux('unshare is missing or not permitted')),
    layer('user', users !== undefined, 'a user of its own, without a name', onLinux(whyNoUsers)),
    layer('privileges', found.isUnprivileged, 'no privileges, and none to be gained', onLinux(whyPrivileged(found))),
    layer(
      'syscalls',
      koffiPath !== undefined,
      'no system calls but for its memory, threads and pipe',
      onLinux(whyNoFilter()),
    ),
    layer('parent', privileges.length > 0, 'ends with this node', onLinux('setpriv is missing')),
    layer('files', limits.length > 0, 'no files written, few open', onLinux('prlimit is missing')),
    layer(
      'threads',
      boundThreads,
      'a bound on threads',
      onLinux('needs a user of its own and prlimit, or a control group'),
    ),
    layer('memory', groups.controllers.has('memory'), 'a bound on memory', onLinux(whyNoMemory(controlGroup))),
    layer(
      'watch',
      rights.oomScore,
      'memory and processor time are watched, and the kernel takes it first when memory runs out',
      onLinux('memory and processor time are, but the kernel cannot be told to take it first, see CAP_DAC_OVERRIDE'),
    ),
    layer(
      'priority',
      priority.length > 0 && (rights.session || rights.lower),
      `behind this node and its database${onHalf(rights.cores)}`,
      priority.length > 0 ? 'it cannot be changed, see CAP_SYS_NICE and CAP_DAC_OVERRIDE' : 'nice is missing',
    ),
  ];
}

function whyPrivileged({ privileges }: Findings): string {
  return privileges.length === 0 ? 'setpriv is missing' : 'root keeps its capabilities, see CAP_SETPCAP';
}

function onHalf(mayChangeCores: boolean): string {
  if (mayChangeCores) return ', and on half of the processors while it computes for long';
  return findHotCores() === undefined ? '' : ', but on all processors: taskset is missing or not permitted';
}

function whyNoFilter(): string {
  return ['x64', 'arm64'].includes(process.arch)
    ? 'the kernel takes no filter, or koffi is missing'
    : `not on ${process.arch}`;
}

function whyNoMemory(controlGroup: string | undefined): string {
  return controlGroup === undefined
    ? 'no control group is given, see HEADWATER_SANDBOX_CGROUP'
    : `no groups with a memory controller can be made in ${controlGroup}`;
}

/** One line for the log. */
export function summarizeLayers(layers: readonly SandboxLayer[]): { level: 'info' | 'warn'; message: string } {
  const missing = listMissing(layers);
  if (missing === '') return { level: 'info', message: 'Sandbox processes have every layer of the operating system' };
  return {
    level: 'warn',
    message: `Sandbox processes run without some layers of the operating system: ${missing}. What each would stop: docs/security.md`,
  };
}

/** Each with the reason; empty where none is missing. */
export function listMissing(layers: readonly { layer: string; active: boolean; note: string }[]): string {
  const missing = layers.filter(({ active }) => !active);
  return missing.map(({ layer, note }) => `${layer} (${note})`).join(', ');
}
