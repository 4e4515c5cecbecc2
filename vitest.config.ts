import { existsSync, readFileSync, statfsSync } from 'node:fs';
import path from 'node:path';
import { defineConfig } from 'vitest/config';
import { IS_LONG_RUN } from './test/support/long-run.ts';
import { LongestFirst } from './test/support/longest-first.ts';
import { plainReporter } from './test/support/plain-reporter.ts';

const HOSTILE = ['test/hostile/**/*.test.ts'];
/**
 * Excluded from ordinary runs: each file repeats the promise of a faster test, at a scale that
 * takes half a minute.
 */
const NIGHTLY = IS_LONG_RUN ? [] : ['test/**/*.nightly.test.ts'];
/**
 * They look at the process that they run in, its children or its turns, or run code of packages in
 * it.
 */
const ALONE = [
  'test/sandbox-runtime/build-packages.test.ts',
  'test/sandbox-runtime/build-processes.test.ts',
  'test/sandbox-runtime/process-starter.test.ts',
  'test/sandbox-runtime/sandbox-layers.test.ts',
  'test/sandbox-runtime/sandbox-processes.test.ts',
  'test/sandbox-runtime/sandbox-steps-large.test.ts',
  'test/sandbox-runtime/sandbox-usage-watch.test.ts',
];

// All processes of a run, servers too, keep here what Node made of the same files.
process.env['NODE_COMPILE_CACHE'] ??= path.resolve('node_modules/.cache/headwater-compiled');

// Tests create and remove hundreds of databases and folders. On a disk, that costs several times
// what it costs in memory.
const MEMORY_FOLDER = '/dev/shm';
const MEMORY_FOLDER_BYTES = 4 * 2 ** 30;
if (process.env['TMPDIR'] === undefined && hasRoom(MEMORY_FOLDER)) process.env['TMPDIR'] = MEMORY_FOLDER;

/** Some tests run programs from there, which containers may forbid. */
function hasRoom(folder: string): boolean {
  const mount =
    existsSync(folder) &&
    readFileSync('/proc/mounts', 'utf8')
      .split('\n')
      .find((one) => one.includes(` ${folder} `));
  if (typeof mount !== 'string' || mount.includes('noexec')) return false;
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize > MEMORY_FOLDER_BYTES;
}

export default defineConfig({
  test: {
    // Not how long anything may take: machines differ by a factor of four.
    testTimeout: 240_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 30_000 } },
    teardownTimeout: 30_000,
    // Most tests use processes, sockets and clocks, on a possibly busy machine. A test that passes
    // only at the second try is listed at the end with its first error: a defect to fix.
    retry: 1,
    reporters: ['default', plainReporter()],
    pool: 'forks',
    sequence: { sequencer: LongestFirst },
    // Node loads these files directly, as in production. Transforming them again for tests would
    // take three times as long in each process.
    server: {
      deps: { external: [/^(?!.*\/test\/).*\/(?:shared|sandbox-runtime|engine|api|cli|bench|compat)\/src\//] },
    },
    // One more than the smallest machine has cores: tests of crashes and timers mostly wait. With
    // one more yet, tests of turns and times fail now and then.
    maxWorkers: 3,
    projects: [
      {
        extends: true,
        test: {
          name: 'alone',
          include: ALONE,
          globalSetup: ['test/support/global-setup.ts'],
          isolate: true,
        },
      },
      {
        extends: true,
        test: {
          name: 'main',
          include: ['test/**/*.test.ts'],
          exclude: [...HOSTILE, ...ALONE, ...NIGHTLY],
          globalSetup: ['test/support/global-setup.ts'],
          // One process after another for each file would take more time than most of the tests in
          // it; a file that leaves something behind in the one it shares fails.
          isolate: false,
          setupFiles: ['test/support/shared-process.ts'],
        },
      },
      {
        extends: true,
        test: {
          name: 'hostile',
          include: HOSTILE,
          exclude: NIGHTLY,
          globalSetup: ['test/support/global-setup.ts', 'test/support/hostile-setup.ts'],
          setupFiles: ['test/support/hostile-ready.ts'],
          // Files against one server: what they run in is only its client, and can be shared.
          isolate: false,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
