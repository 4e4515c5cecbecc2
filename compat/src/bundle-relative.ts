import { build, type BuildOptions, type Message, type Plugin } from 'esbuild';
import path from 'node:path';
import type { PackageVersions } from './package-versions.ts';

export type RelativeBundle = { ok: true; code: string } | { ok: false; message: string };

const EXTENSIONS = ['.mjs', '.js', '.ts', '.mts', '.cjs', '.cts', '.json'];

/**
 * One text of a component and the files it imports by relative path, as the API takes it. Packages
 * stay imports, with the versions that the package.json next to the importing file asks for. The
 * source map goes with the text, without the sources, so that errors lead back to the author's
 * files.
 */
export async function bundleRelative(root: string, file: string, versions: PackageVersions): Promise<RelativeBundle> {
  return bundleEntry(root, { entryPoints: [path.join(root, file)] }, versions);
}

/** As `bundleRelative`, of a text that imports by paths relative to `root`. */
export function bundleText(root: string, text: string, versions: PackageVersions): Promise<RelativeBundle> {
  return bundleEntry(root, { stdin: { contents: text, resolveDir: root, sourcefile: 'wrapper.mjs' } }, versions);
}

type Entry = Pick<BuildOptions, 'entryPoints' | 'stdin'>;

async function bundleEntry(root: string, entry: Entry, versions: PackageVersions): Promise<RelativeBundle> {
  try {
    const seen = { requiresPackage: false };
    const asEsm = await bundle(root, entry, 'esm', leavePackages(versions, seen));
    // In an ES module, esbuild hides require() of an external package behind a function. A builder
    // would not find it there.
    const code = seen.requiresPackage ? await bundle(root, entry, 'cjs', leavePackages(versions, seen)) : asEsm;
    return { ok: true, code };
  } catch (error) {
    if (!isBuildFailure(error)) throw error;
    return { ok: false, message: describe(error.errors) };
  }
}

async function bundle(root: string, entry: Entry, format: 'esm' | 'cjs', plugin: Plugin): Promise<string> {
  const { outputFiles } = await build({
    ...entry,
    absWorkingDir: root,
    bundle: true,
    write: false,
    format,
    target: 'es2024',
    platform: 'node',
    sourcemap: 'inline',
    sourcesContent: false,
    legalComments: 'none',
    logLevel: 'silent',
    resolveExtensions: EXTENSIONS,
    tsconfigRaw: '{}',
    plugins: [plugin],
  });
  return outputFiles[0]?.text ?? '';
}

function leavePackages(versions: PackageVersions, seen: { requiresPackage: boolean }): Plugin {
  return {
    name: 'leave-packages',
    setup(setup) {
      setup.onResolve({ filter: /^[^./]/ }, ({ path: specifier, importer, kind }) => {
        if (kind === 'entry-point') return undefined;
        if (kind === 'require-call') seen.requiresPackage = true;
        return { path: versions.pin(specifier, importer), external: true };
      });
    },
  };
}

function describe(messages: readonly Message[]): string {
  const [first] = messages;
  const place = first?.location ? `${first.location.file}:${first.location.line}: ` : '';
  return `${place}${first?.text ?? 'The component could not be bundled'}`;
}

function isBuildFailure(error: unknown): error is { errors: Message[] } {
  return error instanceof Error && Array.isArray((error as { errors?: unknown }).errors);
}
