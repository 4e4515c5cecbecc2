import { defineConfig } from 'vitest/config';
import { plainReporter } from './test/support/plain-reporter.ts';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/support/global-setup.ts'],
    // Each file in a process of its own: isolates, signals and child processes must not meet those of another file.
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 30_000,
    hookTimeout: 60_000,
    teardownTimeout: 30_000,
    reporters: ['default', plainReporter()],
  },
});
