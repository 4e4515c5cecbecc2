import { bundlePlain, type PlainOutcome } from './bundle-component.ts';
import type { BundleTask, PlainAnswer, TreeAnswer, TreeOutcome } from './bundle-task.ts';
import { refuseToBundler } from '../syscall-filter/install-filter.ts';
import { bundlePackages } from './packages/bundle-packages.ts';
import { listMissingFiles } from './list-missing-files.ts';
import type { PackageTree } from './packages/resolve-tree.ts';
import { serveTasks, type TaskAnswer } from './serve-tasks.ts';

/**
 * Installs a system call filter. The bundler would look for import patterns in folders of this
 * machine. Code that breaks out of it would look for servers that listen here.
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
 * Main file of a bundler process. It reads only the package cache, reaches no network, and runs no
 * bundled code.
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
