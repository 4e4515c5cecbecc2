import { build, type BuildOptions, type Message, type Plugin } from 'esbuild';
import { closePatterns, rawFailures, requireNoPatterns } from '../bundler-failures.ts';
import { type ComponentFiles, loadOwn } from '../component-files.ts';
import { COMMON_OPTIONS } from '../common-options.ts';
import { collectPatterns } from './import-patterns.ts';
import { type Mending, packagePathOf, resolvePackages } from './resolve-packages.ts';
import type { PackageTree } from './resolve-tree.ts';
import type { UnpackedPackages } from './unpacked-packages.ts';

export type TreeBundle = { ok: true; code: string; sourceMap: string } | { ok: false; messages: Message[] };

/** Stand-ins for a module's own place: a bundle has none. */
const DEFINES: NonNullable<BuildOptions['define']> = {
  'process.env.NODE_ENV': '"production"',
  __dirname: '"/"',
  __filename: '"/component.js"',
  'import.meta.url': '"file:///component.js"',
  'import.meta.dirname': '"/"',
  'import.meta.filename': '"/component.js"',
};

/** Bundles a component with its packages. */
export async function bundleTree(
  component: ComponentFiles,
  entryLoader: 'js' | 'ts',
  tree: PackageTree,
  packages: UnpackedPackages,
): Promise<TreeBundle> {
  const sloppy = new Set<string>();
  const mending: Mending = { sloppy, patterns: new Map(), withFiles: true };
  for (;;) {
    const bundle = await tryBundle(component, entryLoader, resolvePackages(component, tree, packages, mending));
    if (bundle.ok) return bundle;
    const { messages } = bundle;
    const found = messages.flatMap(sloppyFileOf).filter((file) => !sloppy.has(file));
    // Each round shows at least one more of finitely many files, or patterns in them.
    for (const file of found) sloppy.add(file);
    if (collectPatterns(mending.patterns, messages, packagePathOf) || found.length > 0) continue;
    // Some files that a pattern matches are not code, such as templates and tests. Retry without
    // them.
    if (!mending.withFiles || mending.patterns.size === 0) return { ok: false, messages: closePatterns(messages) };
    mending.withFiles = false;
  }
}

/** The package file that is not valid in strict mode, if that is the error. */
function sloppyFileOf({ text, location }: Message): string[] {
  const isSloppy = text.endsWith('cannot be used with the "esm" output format due to strict mode');
  const path = isSloppy ? packagePathOf(location?.file ?? '') : undefined;
  return path === undefined ? [] : [path];
}

async function tryBundle(component: ComponentFiles, entryLoader: 'js' | 'ts', resolver: Plugin): Promise<TreeBundle> {
  try {
    const result = await build({
      ...COMMON_OPTIONS,
      entryPoints: [component.entry],
      absWorkingDir: '/',
      platform: 'neutral',
      treeShaking: true,
      keepNames: true,
      minifyWhitespace: true,
      minifySyntax: true,
      define: DEFINES,
      plugins: [resolver, loadOwn(component, entryLoader)],
    });
    requireNoPatterns(result);
    const code = result.outputFiles?.find((file) => file.path.endsWith('.js'));
    const map = result.outputFiles?.find((file) => file.path.endsWith('.map'));
    if (code === undefined || map === undefined) throw new Error('The bundler made no output');
    return { ok: true, code: code.text, sourceMap: map.text };
  } catch (error) {
    return { ok: false, messages: rawFailures(error) };
  }
}
