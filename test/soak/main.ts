import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createUndo } from '../../bench/src/undo.ts';
import { readArguments, type SoakArguments, USAGE } from './arguments.ts';
import { formatReport, isClean, writeBroken } from './report.ts';
import { soak } from './soak.ts';

const USAGE_EXIT_CODE = 2;
/** Too large to keep with every failure, and of no use without the nodes. */
const DATABASE_FOLDER = 'postgres';

async function main(): Promise<number> {
  const tell = (line: string) => void process.stdout.write(`${line}\n`);
  let options: SoakArguments;
  try {
    options = readArguments(process.argv.slice(2));
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n\n${USAGE}\n`);
    return USAGE_EXIT_CODE;
  }
  const folder = options.folder ?? mkdtempSync(path.join(tmpdir(), `headwater-soak-${options.seed}-`));
  mkdirSync(folder, { recursive: true });
  tell(`seed ${options.seed}, folder ${folder}`);
  const undo = createUndo();
  const stopping = new AbortController();
  undo.push(() => stopping.abort());
  let clean = false;
  try {
    const report = await soak(options, { folder, undo, tell, signal: stopping.signal });
    clean = isClean(report);
    writeBroken(folder, report);
    writeFileSync(path.join(folder, 'report.txt'), `${formatReport(report)}\n`);
    tell(`\n${formatReport(report)}`);
  } catch (error) {
    if (stopping.signal.aborted) tell('The soak was interrupted');
    else process.stderr.write(`The soak could not be carried out: ${(error as Error).stack}\n`);
  } finally {
    await undo.run();
  }
  if (!options.keep) rmSync(path.join(folder, DATABASE_FOLDER), { recursive: true, force: true });
  if (clean && !options.keep) rmSync(folder, { recursive: true, force: true });
  else tell(`\nwhat happened is in ${folder}`);
  return clean ? 0 : 1;
}

process.exit(await main());
