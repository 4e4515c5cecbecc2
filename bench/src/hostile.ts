import { spawn } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { BenchArguments } from './arguments.ts';
import type { HostileMeasurement } from './hostile-measurement.ts';
import { formatHostile, type HostileReport } from './hostile-report.ts';
import { describeMachine } from './machine.ts';
import type { Undo } from './undo.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const VITEST = path.join(ROOT, 'node_modules/vitest/vitest.mjs');
const SUITE = 'test/hostile';
/** Timeout of one test. A test measures until it has enough samples. */
const TEST_TIMEOUT_MS = 400_000;
/**
 * Niceness of the session of the attackers' client. Server and neighbour have sessions of their
 * own. Linux only.
 */
const CLIENT_NICE = 10;

/**
 * Runs the hostile suite one file after another, each measuring what its neighbour sees without the
 * attack and then during it. Answers false where an attack succeeded or harmed someone; being
 * slower is a figure, not a failure.
 */
export async function benchHostile(undo: Undo, options: BenchArguments): Promise<boolean> {
  const attacks = attacksOf(options);
  if (attacks.length === 0) throw new Error(`No attack in ${SUITE} has that group and name`);
  const folder = await mkdtemp(path.join(tmpdir(), 'headwater-bench-'));
  undo.push(() => rm(folder, { recursive: true, force: true }));
  const reportFile = path.join(folder, 'report');
  const files = [...new Set(attacks.map(({ file }) => file))];
  const chosen = options.attack === undefined ? [] : ['--testNamePattern', `^${options.attack} `];
  const passed = await runSuite(undo, [...chosen, ...files], {
    HEADWATER_HOSTILE_REPORT: reportFile,
    HEADWATER_HOSTILE_SAMPLES: String(options.samples),
  });
  const measurements = await readReport(reportFile);
  const report: HostileReport = {
    machine: describeMachine(),
    attacks: attacks.map(({ name }) => name),
    measurements,
  };
  console.log(options.json ? JSON.stringify(report, undefined, 2) : formatHostile(report));
  return passed;
}

/** The attacks of that group and name, as `cpu/sync-loop`, each with the file of its theme. */
function attacksOf({ group, attack }: BenchArguments): { name: string; file: string }[] {
  const files = globSync(`${SUITE}/${group ?? '*'}/*.test.ts`, { cwd: ROOT }).toSorted();
  return files
    .filter((file) => !file.endsWith('.nightly.test.ts'))
    .flatMap((file) => {
      const found = readFileSync(path.join(ROOT, file), 'utf8').matchAll(/^describe\('([^']+)'/gm);
      const names = [...found].map(([, name = '']) => name).filter((name) => attack === undefined || name === attack);
      return names.map((name) => ({ name: `${path.basename(path.dirname(file))}/${name}`, file }));
    });
}

/** Its own words go to stderr, so that the report can be piped. */
async function runSuite(undo: Undo, chosen: readonly string[], env: NodeJS.ProcessEnv): Promise<boolean> {
  const args = ['run', '--project', 'hostile', '--no-file-parallelism', `--testTimeout=${TEST_TIMEOUT_MS}`, ...chosen];
  const child = spawn(process.execPath, [VITEST, ...args], {
    cwd: ROOT,
    env: { ...process.env, ...env },
    stdio: ['ignore', process.stderr, process.stderr],
    detached: true,
  });
  // Real attackers have their own processors. Here the load generator shares them, so its session
  // gets a lower priority than the server.
  await writeFile(`/proc/${child.pid}/autogroup`, String(CLIENT_NICE)).catch(() => undefined);
  const exited = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject).once('exit', (code) => resolve(code));
  });
  undo.push(async () => {
    // In order: it has a server and a database of its own to end.
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGINT');
    await exited;
  });
  return (await exited) === 0;
}

async function readReport(file: string): Promise<HostileMeasurement[]> {
  const text = await readFile(file, 'utf8').catch(() => '');
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as HostileMeasurement);
}
