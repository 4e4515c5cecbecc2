import type { FieldError } from '@headwater/shared';
import type { ComponentFiles } from './component-files.ts';
import type { BuildLimits } from './packages/build-order.ts';
import type { PackageTree } from './packages/resolve-tree.ts';

/** What a bundler process is asked for. */
export type BundleTask =
  | { kind: 'plain'; component: ComponentFiles }
  | { kind: 'missing-files'; component: ComponentFiles }
  | {
      kind: 'tree';
      component: ComponentFiles;
      entryLoader: 'js' | 'ts';
      tree: PackageTree;
      cacheDir: string;
      limits: BuildLimits;
    };

/** Its answer to `tree`. */
export type TreeAnswer =
  | { ok: true; code: string; sourceMap: string; dependencies: Record<string, string> }
  | { ok: false; errors: FieldError[] };
