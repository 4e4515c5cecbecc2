import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { getPriority } from 'node:os';
import { expect, onTestFinished, test } from 'vitest';
import { CpuPriority } from '../../sandbox-runtime/src/confinement/cpu-priority.ts';
import { findHotCores } from '../../sandbox-runtime/src/confinement/cpu-cores.ts';
import { NO_RIGHTS, type ProcessRights } from '../../sandbox-runtime/src/confinement/process-rights.ts';
import { eventually } from '../support/eventually.ts';

const CALM_MS = 3_000;

/**
 * A process that computes for a second, then for none, as it is told to the one that watches it.
 */
async function watchOne(rights: Partial<ProcessRights>) {
  const child = spawn('sleep', ['60']);
  onTestFinished(() => void child.kill('SIGKILL'));
  // One that starts still computes.
  await eventually(() => readFileSync(`/proc/${child.pid}/stat`, 'utf8').includes('(sleep) S '));
  const commands: string[] = [];
  const starter = { command: (program: string) => void commands.push(program) };
  const priority = new CpuPriority(child.pid!, starter, { ...NO_RIGHTS, ...rights });
  priority.booted();
  for (const ms of [0, 250, 500, 750, 1_000]) priority.look(ms, ms);
  const hot = { isHot: priority.isHot, nice: getPriority(child.pid!) };
  // At its earlier CPU time, it counts as calm.
  const isKept = [1_250, 1_000 + CALM_MS].map((ms) => priority.look(ms, 1_000)).every(Boolean);
  return { ...hot, isKept, commands };
}

const isLinux = process.platform === 'linux';
const own = isLinux ? getPriority() : 0;

test.runIf(isLinux)(
  'a process whose priority cannot be changed is not called hot, and not replaced for it',
  async () => {
    expect(await watchOne({})).toEqual({ isHot: false, nice: own, isKept: true, commands: [] });
  },
);

test.runIf(isLinux)('one whose priority cannot be given back is replaced', async () => {
  const isRoot = process.getuid?.() === 0;
  expect(await watchOne({ lower: true })).toEqual({ isHot: true, nice: 10, isKept: isRoot, commands: [] });
});

test.runIf(isLinux && findHotCores() !== undefined)(
  'one of which only the processors can be changed is kept to half of them',
  async () => {
    const { isHot, nice, isKept, commands } = await watchOne({ cores: true });
    expect({ isHot, nice, isKept }).toEqual({ isHot: true, nice: own, isKept: true });
    // At its boot, when it is hot, and when it has calmed down.
    expect(commands).toEqual(['taskset', 'taskset', 'taskset']);
  },
);
