import { bundlePlain } from './bundle-component.ts';
import type { BundleTask } from './bundle-task.ts';
import { bundlePackages } from './packages/bundle-packages.ts';
import { listMissingFiles } from './list-missing-files.ts';
import { serveTasks } from './serve-tasks.ts';

/**
 * The main file of a bundler process. It reads nothing but the cache of packages, reaches nothing, and runs nothing of what it
 * bundles.
 */
serveTasks(async (given) => {
  const task = given as BundleTask;
  switch (task.kind) {
    case 'plain':
      return bundlePlain(task.component);
    case 'missing-files':
      return listMissingFiles(task.component);
    case 'tree':
      return bundlePackages(task);
  }
});
