import path from 'node:path';
import type { Message, Metafile, Plugin } from 'esbuild';
import { CliError, type ErrorField } from '../cli-error.ts';
import { createVersionFinder } from './find-version.ts';
import { isPackage, withVersion } from './package-import.ts';

/** A component as it is sent, and every local file that it is made of. */
export interface LocalBundle {
  code: string;
  /**
   * Absolute paths, including each package.json that pins packages. A change of any of them may
   * change the component.
   */
  files: string[];
}

const MAX_SHOWN_ERRORS = 10;
const BROKEN_HINT = 'Correct it and try again; nothing was sent';

/**
 * Puts the files that a component imports by relative paths into one. Packages stay imports, which
 * the server resolves, with the versions that the nearest package.json asks for. Where there is
 * nothing to put in, `code` is absent: the file is good as it is. Throws a CliError that names each
 * place. `onImport` hears of every path that is imported, there or not, with or without its ending.
 */
export async function bundleFiles(
  file: string,
  onImport: (imported: string) => void = () => undefined,
): Promise<Partial<LocalBundle> & Pick<LocalBundle, 'files'>> {
  const folder = path.dirname(file);
  const imports = readImports(onImport);
  // Commands that bundle nothing start without it.
  const { build } = await import('esbuild');
  try {
    const { outputFiles, metafile } = await build({
      entryPoints: [file],
      absWorkingDir: folder,
      bundle: true,
      write: false,
      metafile: true,
      format: 'esm',
      platform: 'neutral',
      target: 'esnext',
      // Lines in messages and stacks are those of the author's files; the text of these stays here.
      sourcemap: 'inline',
      sourcesContent: false,
      logLevel: 'silent',
      // A tsconfig near the component must not change how the server reads it.
      tsconfigRaw: {},
      plugins: [imports.plugin],
    });
    requireNoPatterns(metafile, folder, file);
    const files = inputsOf(metafile, folder);
    const isWhole = files.length === 1 && !imports.versionsWereAdded();
    const sources = [...files, ...imports.manifests()];
    return isWhole ? { files: sources } : { code: outputFiles[0]?.text ?? '', files: sources };
  } catch (error) {
    throw buildError(error, file);
  }
}

function readImports(onImport: (imported: string) => void): {
  plugin: Plugin;
  versionsWereAdded(): boolean;
  manifests(): string[];
} {
  const versions = createVersionFinder();
  let added = false;
  return {
    versionsWereAdded: () => added,
    manifests: () => versions.manifests(),
    plugin: {
      name: 'packages-stay',
      setup({ onResolve }) {
        onResolve({ filter: /.*/ }, ({ path: specifier, resolveDir, kind }) => {
          if (kind === 'entry-point') return undefined;
          if (!isPackage(specifier)) {
            onImport(path.resolve(resolveDir, specifier));
            return undefined;
          }
          const known = withVersion(specifier, (name) => versions.versionOf(name, resolveDir));
          added ||= known !== specifier;
          return { path: known, external: true };
        });
      },
    },
  };
}

/**
 * Rejects `import('./' + name)`. To the bundler it means every file in and below the folder, hidden
 * ones too. The user has not named those files, and the server refuses such imports.
 */
function requireNoPatterns({ inputs }: Metafile, folder: string, file: string): void {
  const fields = Object.entries(inputs).flatMap(([input, { imports }]) =>
    imports
      .filter(({ path: imported, external }) => external === true && /^\.{1,2}\/.*\*/.test(imported))
      .map(({ path: imported }) => {
        const message = `An import by a pattern (${imported}) cannot be sent: each file has to be named`;
        return { path: 'component', message, file: path.relative(folder, path.resolve(folder, input)) };
      }),
  );
  if (fields.length > 0) throw unusable(file, fields);
}

function inputsOf(metafile: Metafile, folder: string): string[] {
  return Object.keys(metafile.inputs).map((input) => path.resolve(folder, input));
}

function buildError(error: unknown, file: string): unknown {
  const messages = (error as { errors?: Message[] } | null)?.errors;
  if (messages === undefined || messages.length === 0) return error;
  return unusable(file, messages.slice(0, MAX_SHOWN_ERRORS).map(fieldOf), error);
}

function unusable(file: string, fields: readonly ErrorField[], cause?: unknown): CliError {
  const name = path.basename(file);
  return new CliError('component', `${name} cannot be put together`, {
    code: 'INVALID_COMPONENT',
    hint: BROKEN_HINT,
    fields,
    cause,
  });
}

function fieldOf({ text, location }: Message): ErrorField {
  if (location === null) return { path: 'component', message: text };
  const { file, line, column, lineText } = location;
  return { path: 'component', message: `${text}\n    ${lineText.trim()}`, file, line, column };
}
