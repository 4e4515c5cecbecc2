import { bundlePlain, type PlainOutcome } from './bundle-component.ts';
import type { BundleTask, PlainAnswer, TreeAnswer, TreeOutcome } from './bundle-task.ts';
import { refuseToBundler } from '../syscall-filter/install-filter.ts';
import { bundlePackages } from './packages/bundle-packages.ts';
import { listMissingFiles } from './list-missing-files.ts';
import type { PackageTree } from './packages/resolve-tree.ts';
import { serveTasks, type TaskAnswer } from './serve-tasks.ts';

/**
 * The bundler looks for what an import by a pattern may mean in the folders of this machine, and
 * whoever breaks out of it for what listens there.
 */
function refuseSurroundings(koffiPath: string | undefined): void {
  if (koffiPath === undefined) return;
  try {
    refuseToBundler(koffiPath);
  } catch {
    // Without a filter the answer still does not depend on the files of this machine: see
    // bundler-failures.ts.
  }
}

refuseSurroundings(process.argv[2]);
/**
 * The main file of a bundler process. It reads nothing but the cache of packages, reaches nothing,
 * and runs nothing of what it bundles.
 */
serveTasks(async (given, text) => {
  const task = given as BundleTask;
  switch (task.kind) {
    case 'plain':
      return plainAnswer(await bundlePlain(task.component, task.maxBundleBytes));
    case 'missing-files':
      return { value: await listMissingFiles(task.component) };
    case 'tree':
      return treeAnswer(await bundlePackages(task, JSON.parse(text.toString('utf8')) as PackageTree));
  }
});

function plainAnswer(outcome: PlainOutcome): TaskAnswer {
  if (outcome.kind !== 'bundled') return { value: outcome };
  const { code, sourceMap } = outcome.bundle;
  return { value: { kind: 'bundled', sourceMap } satisfies PlainAnswer, text: code };
}

function treeAnswer(outcome: TreeOutcome): TaskAnswer {
  if (!outcome.ok) return { value: outcome };
  const { code, ...rest } = outcome;
  return { value: rest satisfies TreeAnswer, text: code };
}
