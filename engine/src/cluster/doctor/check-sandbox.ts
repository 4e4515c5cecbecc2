import { type SandboxLayer, startSandbox } from '@headwater/sandbox-runtime';
import { checkLayer, type DoctorCheck, type DoctorOptions, failedCheck, messageOf, ok } from './report.ts';

/** The risk when a layer is missing; docs/security.md has the attacks. */
const COSTS: Readonly<Record<SandboxLayer['layer'], string>> = {
  network: 'Code that breaks out of its isolate could open connections of its own, past the rules of egress.',
  user: "Code that breaks out of its isolate would be this node's user. Where its system calls are not filtered either, it could signal this node's processes, read their environment and all files of that user, the encryption key among them, and without the network layer connect to the database.",
  privileges: 'Code that breaks out of its isolate would have the privileges of this node.',
  syscalls: 'Code that breaks out of its isolate could make any call of the kernel, and look for a hole in it.',
  parent: 'A sandbox process may outlive a node that was killed, until it notices.',
  files:
    'Code that breaks out of its isolate could write files and open many, where its user may and its system calls are not filtered.',
  threads: 'Code that breaks out of its isolate could start any number of threads.',
  memory: 'What grows faster than four looks a second see is ended by the kernel, which may choose another process.',
  watch: 'Where memory runs out the system may end this node or its database before a sandbox process.',
  priority: 'A component that computes for long slows this node and its neighbours down.',
};

/** Boots a sandbox process, and says what the system does around it. */
export async function checkSandbox({
  sandbox: { requiredLayers = [], ...options } = {},
}: DoctorOptions): Promise<DoctorCheck[]> {
  try {
    const sandbox = await startSandbox({ ...options, blankProcesses: 1 });
    try {
      return [
        ok('sandbox', 'processes start'),
        ...sandbox
          .layers()
          .map((layer) => checkLayer('sandbox', layer, COSTS[layer.layer], requiredLayers.includes(layer.layer))),
      ];
    } finally {
      await sandbox.stop();
    }
  } catch (error) {
    return [failedCheck('sandbox', messageOf(error), 'No component can be run on this machine.')];
  }
}
