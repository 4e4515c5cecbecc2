import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type BuildLayer, createBuilder } from '@headwater/sandbox-runtime';
import { checkLayer, type DoctorCheck, type DoctorOptions, failedCheck, messageOf } from './report.ts';

/** The risk when a layer is missing; docs/security.md has more. */
const COSTS: Readonly<Record<BuildLayer['layer'], string>> = {
  network: 'Code that breaks out of the bundler could open connections of its own, past the rules of egress.',
  processes:
    "Code that breaks out of the bundler could see and signal this node's processes and those of other builds.",
  privileges: 'Code that breaks out of the bundler would have the privileges of this node.',
  priority: 'What is built slows this node and its neighbours down.',
};

/** Says what the system does around processes that bundle. */
export async function checkBuilder({ dataDir }: DoctorOptions): Promise<DoctorCheck[]> {
  const cache = path.resolve(dataDir, 'package-cache');
  // Check an existing folder, because its owner decides which layers work. Never create it here:
  // the node creates it as its own user.
  const other = existsSync(cache) ? undefined : await mkdtemp(path.join(tmpdir(), 'headwater-doctor-'));
  const builder = createBuilder({ cacheDir: other ?? cache });
  try {
    return (await builder.findLayers()).map((layer) => checkLayer('builder', layer, COSTS[layer.layer]));
  } catch (error) {
    return [failedCheck('builder', messageOf(error), 'No component can be built on this machine.')];
  } finally {
    await builder.stop();
    if (other !== undefined) await rm(other, { recursive: true, force: true });
  }
}
