import { type BuildOptions, build, version } from 'esbuild';
import { hash } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { rename, rm, writeFile } from 'node:fs/promises';
import { getCompileCacheDir } from 'node:module';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

export interface OwnCode {
  /** Names the file in which the bundle is kept. */
  name: string;
  main: URL;
  options: BuildOptions;
  /** Further input of the bundle, besides files and plain options: the content that plugins add. */
  madeOf?: unknown;
}

interface KeptBundle {
  key: string;
  /** By absolute path, the hash of each file that is in it. */
  files: Record<string, string>;
  text: string;
}

/** Inputs of plugins and options, which are not files: `namespace:path` and `<define:NAME>`. */
const MADE_UP = /^(?:<|[^/]{2,}:)/;

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/**
 * Bundles code of this package into one script. With a compile cache (`NODE_COMPILE_CACHE`), the
 * bundle is stored beside it: writers of that folder control the executed code anyway. A change of
 * one of its files makes a new bundle.
 */
export async function bundleOwnCode(code: OwnCode): Promise<string> {
  const folder = getCompileCacheDir();
  const key = hash('sha256', JSON.stringify([version, process.version, code.main.href, code.options, code.madeOf]));
  const file = folder === undefined ? undefined : join(folder, `headwater-${code.name}.json`);
  const kept = file === undefined ? undefined : readKept(file, key);
  if (kept !== undefined) return kept;
  const startedAtMs = Date.now();
  const { text, paths } = await bundle(code);
  // A file that was written meanwhile may not be the one that is in the bundle.
  const isCurrent = paths.every((path) => statSync(path).mtimeMs < startedAtMs);
  if (file !== undefined && isCurrent) await keep(file, { key, files: Object.fromEntries(paths.map(hashFile)), text });
  return text;
}

async function bundle({ main, options }: OwnCode): Promise<{ text: string; paths: string[] }> {
  const { outputFiles, metafile } = await build({
    ...options,
    entryPoints: [fileURLToPath(main)],
    absWorkingDir: ROOT,
    bundle: true,
    write: false,
    metafile: true,
    legalComments: 'none',
    logLevel: 'silent',
  });
  const [output] = outputFiles;
  if (output === undefined) throw new Error(`The bundle of ${fileURLToPath(main)} is empty`);
  const paths = Object.keys(metafile.inputs).filter((input) => !MADE_UP.test(input));
  return { text: output.text, paths: paths.map((path) => resolve(ROOT, path)) };
}

function hashFile(path: string): [string, string] {
  return [path, hash('sha256', readFileSync(path))];
}

function readKept(file: string, key: string): string | undefined {
  try {
    const kept = JSON.parse(readFileSync(file, 'utf8')) as KeptBundle;
    if (kept.key !== key) return undefined;
    const isSame = ([path, known]: [string, string]): boolean => hashFile(path)[1] === known;
    return Object.entries(kept.files).every(isSame) ? kept.text : undefined;
  } catch {
    // Not there yet, cut short, or made of files that are gone: it is made anew.
    return undefined;
  }
}

async function keep(file: string, kept: KeptBundle): Promise<void> {
  const draft = `${file}.${process.pid}`;
  try {
    await writeFile(draft, JSON.stringify(kept), { mode: 0o600 });
    await rename(draft, file);
  } catch {
    // A full disk or a folder that may not be written: the next start takes as long as this one.
    await rm(draft, { force: true }).catch(() => undefined);
  }
}
