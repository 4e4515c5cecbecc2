import path from 'node:path';
import { defineConfig } from 'vitest/config';
import { plainReporter } from './test/support/plain-reporter.ts';

const HOSTILE = ['test/hostile/**/*.test.ts'];

// All processes of a run, servers too, keep here what Node made of the same files.
process.env['NODE_COMPILE_CACHE'] ??= path.resolve('node_modules/.cache/headwater-compiled');

export default defineConfig({
  test: {
    testTimeout: 30_000,
    hookTimeout: 60_000,
    teardownTimeout: 30_000,
    reporters: ['default', plainReporter()],
    pool: 'forks',
    // Loaded by Node as where they run, and not transformed once more for tests: that would take three times as long in each process.
    server: {
      deps: { external: [/^(?!.*\/test\/).*\/(?:shared|sandbox-runtime|engine|api|cli|bench|compat)\/src\//] },
    },
    // One more than the smallest machine has cores: tests of crashes and timers mostly wait.
    maxWorkers: 3,
    projects: [
      {
        extends: true,
        test: {
          name: 'main',
          include: ['test/**/*.test.ts'],
          exclude: HOSTILE,
          globalSetup: ['test/support/global-setup.ts'],
          // Each file in a process of its own: isolates, signals and child processes must not meet those of another file.
          isolate: true,
        },
      },
      {
        extends: true,
        test: {
          name: 'hostile',
          include: HOSTILE,
          globalSetup: ['test/support/global-setup.ts', 'test/support/hostile-setup.ts'],
          // More than a hundred small files against one server: what they run in is only its client, and can be shared.
          isolate: false,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
