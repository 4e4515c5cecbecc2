import { type FieldError, LIMITS } from '@headwater/shared';
import { build, type Loader, type Message } from 'esbuild';
import { createHash } from 'node:crypto';
import { LOADED_EXPORT } from '../guest/builtin-names.ts';
import type { BundleOutcome } from '../sandbox.ts';
import { resolveBuiltins } from './resolve-builtins.ts';

const MAX_ERRORS = 20;
const DEFAULT_FILE = 'component.js';

/**
 * Makes component code ready to load: one self-contained ES module with a source map that leads back to `fileName`
 * (default `component.js`). JavaScript is tried first, then TypeScript; when both fail, the errors of the likelier one are
 * reported, each with file, 1-based line and 0-based column. Never rejects for what the code contains.
 *
 * Code over LIMITS.maxComponentCodeBytes is refused. Nothing is read from disk, whatever the code says: every import ends in
 * `resolveBuiltins`, and no tsconfig is looked for.
 */
export async function bundleComponent(code: string, fileName: string = DEFAULT_FILE): Promise<BundleOutcome> {
  const bytes = Buffer.byteLength(code);
  if (bytes > LIMITS.maxComponentCodeBytes) {
    const message = `The code is ${bytes} bytes; the limit is ${LIMITS.maxComponentCodeBytes}`;
    return { ok: false, errors: [{ path: 'component_code', message, file: fileName }] };
  }
  const isTypeScript = /\.[cm]?ts$/.test(fileName);
  const first = await tryBundle(code, fileName, isTypeScript ? 'ts' : 'js');
  if (first.ok || isTypeScript) return first;
  const second = await tryBundle(code, fileName, 'ts');
  // TypeScript accepts all of JavaScript: if it gets further, what is still wrong (an import) is the better message.
  return second.ok || isOnlyImports(second.errors) ? second : first;
}

async function tryBundle(code: string, fileName: string, loader: Loader): Promise<BundleOutcome> {
  try {
    const result = await build({
      stdin: { contents: code, loader, sourcefile: fileName },
      bundle: true,
      write: false,
      outfile: 'component.js',
      format: 'esm',
      target: 'es2024',
      platform: 'neutral',
      sourcemap: 'external',
      sourcesContent: false,
      legalComments: 'none',
      logLevel: 'silent',
      logLimit: MAX_ERRORS,
      treeShaking: false,
      footer: { js: `export const ${LOADED_EXPORT} = true;` },
      tsconfigRaw: '{}',
      absWorkingDir: '/',
      plugins: [resolveBuiltins()],
    });
    const output = result.outputFiles.find((file) => file.path.endsWith('.js'));
    const map = result.outputFiles.find((file) => file.path.endsWith('.map'));
    if (output === undefined || map === undefined) throw new Error('The bundler made no output');
    const hash = createHash('sha256').update(output.contents).digest('hex');
    return { ok: true, bundle: { code: output.text, sourceMap: map.text, hash } };
  } catch (error) {
    if (!isBuildFailure(error)) throw error;
    return { ok: false, errors: error.errors.map((message) => toFieldError(message, fileName)) };
  }
}

function toFieldError(message: Message, fileName: string): FieldError {
  const error: FieldError = { path: 'component_code', message: message.text, file: fileName };
  if (message.location !== null) {
    error.line = message.location.line;
    error.column = message.location.column;
  }
  return error;
}

function isOnlyImports(errors: readonly FieldError[]): boolean {
  return errors.every((error) => error.message.startsWith('Cannot resolve '));
}

function isBuildFailure(error: unknown): error is { errors: Message[] } {
  return error instanceof Error && Array.isArray((error as { errors?: unknown }).errors);
}
