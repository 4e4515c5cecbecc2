import { LIMITS } from '@headwater/shared';
import { build, type Loader } from 'esbuild';
import { readFailures } from './bundler-failures.ts';
import { COMMON_OPTIONS } from './common-options.ts';
import {
  candidatesOf,
  type ComponentFiles,
  isOwnImport,
  isRelative,
  loadOwn,
  loaderOf,
  ownName,
  resolveOwn,
} from './component-files.ts';

export interface MissingFile {
  /** As it is written, `./common.mjs`. */
  path: string;
  importer: string;
  /**
   * File names that it may stand for, the likeliest first; empty when the path leads out of the top
   * folder.
   */
  candidates: string[];
}

/**
 * Relative imports of the given files that are not among them. Lists at most one more than a
 * component may have. Empty for code that cannot be read.
 */
export async function listMissingFiles(component: ComponentFiles): Promise<MissingFile[]> {
  const missing = new Map<string, MissingFile>();
  const loaders: Loader[] = loaderOf(component.entry) === 'ts' ? ['ts'] : ['js', 'ts'];
  for (const loader of loaders) {
    const isRead = await build({
      ...COMMON_OPTIONS,
      entryPoints: [component.entry],
      platform: 'neutral',
      treeShaking: false,
      absWorkingDir: '/',
      plugins: [
        {
          name: 'headwater-missing-files',
          setup(setup) {
            setup.onResolve({ filter: /.*/ }, (args) => {
              const { path, importer } = args;
              const own = resolveOwn(component, args);
              if (own !== undefined) return own;
              if (isOwnImport(args) && isRelative(path) && missing.size <= LIMITS.maxComponentFiles) {
                const name = ownName(importer);
                missing.set(`${name}\0${path}`, { path, importer: name, candidates: candidatesOf(name, path) });
              }
              return { path, external: true };
            });
            // The bundler itself searches the disk for `import('./dev/' + name)`, without asking a
            // plugin.
            setup.onLoad({ filter: /.*/, namespace: 'file' }, () => ({ contents: '' }));
          },
        },
        loadOwn(component, loader),
      ],
    }).then(
      () => true,
      // Errors in the code are reported when it is bundled.
      (error: unknown) => {
        readFailures(error);
        return false;
      },
    );
    if (isRead) break;
  }
  return [...missing.values()];
}
