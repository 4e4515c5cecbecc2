import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

const VARIABLE = 'HEADWATER_TEST_RUN_FOLDER';
const PIDS = 'pids';

/**
 * One folder for all files of a test run. A failed test cannot stop and remove its parts, because
 * its worker is killed. So the run removes them at its end.
 */
export function openRunFolder(): { close(): void } {
  const folder = mkdtempSync(path.join(tmpdir(), 'headwater-run-'));
  mkdirSync(path.join(folder, PIDS));
  process.env[VARIABLE] = folder;
  const close = () => {
    process.off('exit', close);
    for (const pid of readdirSync(path.join(folder, PIDS))) killIfAlive(Number(pid));
    rmSync(folder, { recursive: true, force: true });
  };
  // An interrupted run skips the ordinary cleanup.
  process.once('exit', close);
  return { close };
}

/** A new folder for a server's data. */
export function makeDataDir(): string {
  return mkdtempSync(path.join(runFolder(), 'data-'));
}

/** Answers what to call when the process has ended. */
export function rememberProcess(pid: number | undefined): () => void {
  const file = path.join(runFolder(), PIDS, String(pid));
  writeFileSync(file, '');
  return () => rmSync(file, { force: true });
}

function runFolder(): string {
  const folder = process.env[VARIABLE];
  if (folder === undefined) throw new Error(`${VARIABLE} is not set: test/support/global-setup.ts did not run`);
  return folder;
}

function killIfAlive(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended by itself.
  }
}
