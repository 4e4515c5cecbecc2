import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { bootSystem } from '../../bench/src/system/boot-system.ts';
import { createUndo, type Undo } from '../../bench/src/undo.ts';
import type { Target } from './api-client.ts';
import { type CompatArguments, readArguments, USAGE } from './arguments.ts';
import { findComponents, shuffle } from './find-components.ts';
import { formatJson, formatReport, formatRuns } from './report.ts';
import { type RanComponents, runComponents } from './run/run-components.ts';
import { saveComponents } from './save-components.ts';

const USAGE_EXIT_CODE = 2;
const PROGRESS_EVERY = 50;
const PACKAGE_FOLDER = 'package-cache';
/** Each starts a Node.js. */
const MAX_RUNS = 2;

async function main(): Promise<number> {
  let options: CompatArguments;
  try {
    options = readArguments(process.argv.slice(2));
  } catch (error) {
    console.error(`${(error as Error).message}\n\n${USAGE}`);
    return USAGE_EXIT_CODE;
  }
  const undo = createUndo();
  try {
    await report(undo, options);
    return 0;
  } catch (error) {
    console.error(error);
    return 1;
  } finally {
    await undo.run();
  }
}

async function report(undo: Undo, options: CompatArguments): Promise<void> {
  const found = await findComponents(options.folder);
  const files = (options.sample === undefined ? found : shuffle(found, options.sample)).slice(0, options.limit);
  const result = await saveComponents({
    folder: options.folder,
    files,
    concurrency: options.concurrency,
    target: options.server ?? (await bootTarget(undo, options)),
    onProgress: progress(files.length, 'components'),
  });
  const failed = new Set(result.failed.map((failure) => failure.path));
  const saved = files.filter((file) => !failed.has(file));
  const ran = options.run ? await runSaved(undo, options, saved) : undefined;
  console.log(options.json ? formatJson(result, ran) : formatReport(result));
  if (ran !== undefined && !options.json) console.log(formatRuns(ran));
}

/** Builds packages once more here, from the server's cache if it keeps one. */
function runSaved(undo: Undo, options: CompatArguments, files: readonly string[]): Promise<RanComponents> {
  const dataDir = options.dataDir ?? mkdtempSync(path.join(tmpdir(), 'headwater-compat-'));
  if (options.dataDir === undefined) undo.push(() => rmSync(dataDir, { recursive: true, force: true }));
  return runComponents(undo, {
    folder: options.folder,
    files,
    cacheDir: path.join(dataDir, PACKAGE_FOLDER),
    concurrency: Math.min(options.concurrency, MAX_RUNS),
    onProgress: progress(files.length, 'runs'),
  });
}

// Not on stdout: that is the report's alone.
function progress(total: number, what: string): (done: number, failed: number) => void {
  return (done, failed) => {
    if (done % PROGRESS_EVERY === 0) console.error(`${done}/${total} ${what}, ${failed} failed`);
  };
}

function bootTarget(undo: Undo, { dataDir }: CompatArguments): Promise<Target> {
  return bootSystem(undo, dataDir === undefined ? {} : { dataDir: path.resolve(dataDir) });
}

process.exitCode = await main();
