import { defineConfig } from 'vitest/config';
import { plainReporter } from './test/support/plain-reporter.ts';

const HOSTILE = ['test/hostile/**/*.test.ts'];

export default defineConfig({
  test: {
    testTimeout: 30_000,
    hookTimeout: 60_000,
    teardownTimeout: 30_000,
    reporters: ['default', plainReporter()],
    pool: 'forks',
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
