import type { ExceededLimit, FieldError } from '@headwater/shared';
import type { PlainOutcome } from './bundle-component.ts';
import type { ComponentFiles } from './component-files.ts';
import type { BuildLimits } from './packages/build-order.ts';

export type BundleTask =
  | { kind: 'plain'; component: ComponentFiles; maxBundleBytes: number }
  | { kind: 'missing-files'; component: ComponentFiles }
  /** The tree of packages is the text of the task. */
  | {
      kind: 'tree';
      component: ComponentFiles;
      entryLoader: 'js' | 'ts';
      cacheDir: string;
      limits: BuildLimits;
    };

/** Its answer to `plain`; the code of a bundle is the text of the answer. */
export type PlainAnswer = Exclude<PlainOutcome, { kind: 'bundled' }> | { kind: 'bundled'; sourceMap: string };

export type TreeOutcome =
  | { ok: true; code: string; sourceMap: string; dependencies: Record<string, string> }
  /**
   * `isLost`: packages that were fetched are not in the cache any more, and can be fetched again.
   */
  | { ok: false; errors: FieldError[]; limit?: ExceededLimit; isLost?: boolean };

/** Its answer to `tree`; the code is the text of the answer. */
export type TreeAnswer = Extract<TreeOutcome, { ok: false }> | Omit<Extract<TreeOutcome, { ok: true }>, 'code'>;
