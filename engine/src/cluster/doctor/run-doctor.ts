import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type BuildLayer, createBuilder, type SandboxLayer, startSandbox } from '@headwater/sandbox-runtime';
import { checkDatabase } from './check-database.ts';
import { checkKey } from './check-key.ts';
import { checkDisk, checkEgress, checkMachine, checkVersions } from './check-machine.ts';
import {
  checkLayer,
  type DoctorCheck,
  type DoctorOptions,
  type DoctorReport,
  failedCheck,
  messageOf,
  ok,
} from './report.ts';

/** The risk when a layer is missing; docs/security.md has more. */
const COSTS_OF_BUILDER: Readonly<Record<BuildLayer['layer'], string>> = {
  network: 'Code that breaks out of the bundler could open connections of its own, past the rules of egress.',
  processes:
    "Code that breaks out of the bundler could see and signal this node's processes and those of other builds.",
  privileges: 'Code that breaks out of the bundler would have the privileges of this node.',
  priority: 'What is built slows this node and its neighbours down.',
};

/** Says what the system does around processes that bundle. */
async function checkBuilder({ dataDir }: DoctorOptions): Promise<DoctorCheck[]> {
  const cache = path.resolve(dataDir, 'package-cache');
  // Check an existing folder, because its owner decides which layers work. Never create it here:
  // the node creates it as its own user.
  const other = existsSync(cache) ? undefined : await mkdtemp(path.join(tmpdir(), 'headwater-doctor-'));
  const builder = createBuilder({ cacheDir: other ?? cache });
  try {
    return (await builder.findLayers()).map((layer) => checkLayer('builder', layer, COSTS_OF_BUILDER[layer.layer]));
  } catch (error) {
    return [failedCheck('builder', messageOf(error), 'No component can be built on this machine.')];
  } finally {
    await builder.stop();
    if (other !== undefined) await rm(other, { recursive: true, force: true });
  }
}

/** The risk when a layer is missing; docs/security.md has the attacks. */
const COSTS_OF_SANDBOX: Readonly<Record<SandboxLayer['layer'], string>> = {
  network: 'Code that breaks out of its isolate could open connections of its own, past the rules of egress.',
  user: "Code that breaks out of its isolate would be this node's user. Where its system calls are not filtered either, it could signal this node's processes, read their environment and all files of that user, the encryption key among them, and without the network layer connect to the database.",
  privileges: 'Code that breaks out of its isolate would have the privileges of this node.',
  syscalls: 'Code that breaks out of its isolate could make any call of the kernel, and look for a hole in it.',
  parent: 'A sandbox process may outlive a node that was killed, until it notices.',
  files:
    'Code that breaks out of its isolate could write files and open many, where its user may and its system calls are not filtered.',
  threads: 'Code that breaks out of its isolate could start any number of threads.',
  memory: 'If a process grows faster than four checks a second notice, the kernel ends a process, maybe another one.',
  watch: 'Where memory runs out the system may end this node or its database before a sandbox process.',
  priority: 'A component that computes for long slows this node and its neighbours down.',
};

/** Boots a sandbox process, and says what the system does around it. */
async function checkSandbox({
  sandbox: { requiredLayers = [], ...options } = {},
}: DoctorOptions): Promise<DoctorCheck[]> {
  try {
    const sandbox = await startSandbox({ ...options, blankProcesses: 1 });
    try {
      return [
        ok('sandbox', 'processes start'),
        ...sandbox
          .layers()
          .map((layer) =>
            checkLayer('sandbox', layer, COSTS_OF_SANDBOX[layer.layer], requiredLayers.includes(layer.layer)),
          ),
      ];
    } finally {
      await sandbox.stop();
    }
  } catch (error) {
    return [failedCheck('sandbox', messageOf(error), 'No component can be run on this machine.')];
  }
}

/**
 * Checks everything that a node with these options needs. It changes nothing that the start of a
 * node would not, and stops the processes that it starts. Problems are in the report; it never
 * rejects because of them.
 */
export async function runDoctor(options: DoctorOptions): Promise<DoctorReport> {
  const parts: DoctorCheck[][] = [
    await checkVersions(),
    [checkMachine(), await checkDisk(options), await checkKey(options)],
    await checkDatabase(options),
    checkEgress(options),
    await checkSandbox(options),
    await checkBuilder(options),
  ];
  const checks = parts.flat();
  return { ok: checks.every(({ status }) => status !== 'fail'), checks };
}
