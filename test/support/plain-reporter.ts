import type { Reporter, SerializedError, TestModule } from 'vitest/node';

interface TestCounts {
  passed: number;
  failed: number;
  skipped: number;
}

/**
 * Counts tests. A failure outside of a test counts as one failure, so that a red run never reads "0
 * failed". Examples: a file that does not load, a hook of a suite that throws, an error that is not
 * awaited.
 */
function countTests(modules: readonly TestModule[], unhandledErrors: readonly SerializedError[]): TestCounts {
  const counts: TestCounts = { passed: 0, failed: unhandledErrors.length, skipped: 0 };
  for (const module of modules) {
    counts.failed += module.errors().length;
    for (const suite of module.children.allSuites()) counts.failed += suite.errors().length;
    for (const test of module.children.allTests()) {
      const { state } = test.result();
      if (state === 'passed') counts.passed++;
      else if (state === 'failed') counts.failed++;
      else counts.skipped++;
    }
  }
  return counts;
}

/** Tests that failed first: what they say about time, or a race, is worth a look. */
function secondTries(modules: readonly TestModule[]): string[] {
  return modules.flatMap((module) =>
    [...module.children.allTests('passed')].flatMap((test) => {
      if (test.diagnostic()?.flaky !== true) return [];
      const failed = test.result().errors?.[0]?.message.split('\n', 1)[0] ?? '';
      return [`${module.relativeModuleId} > ${test.fullName}: ${failed}`];
    }),
  );
}

/**
 * Ends the output with a line that machines and people read alike: `12 passed, 0 failed, 1
 * skipped`.
 */
export function plainReporter(): Reporter {
  let closingLine: string | undefined;
  let again: string[] = [];
  return {
    onInit() {
      // At exit, because global teardown and other reporters may print after the run's end.
      process.once('exit', () => {
        for (const name of again) process.stdout.write(`\npassed at the second try: ${name}`);
        if (closingLine !== undefined) process.stdout.write(`\n${closingLine}\n`);
      });
    },
    onTestRunEnd(modules, unhandledErrors) {
      const { passed, failed, skipped } = countTests(modules, unhandledErrors);
      again = secondTries(modules);
      closingLine = `${passed} passed, ${failed} failed, ${skipped} skipped`;
    },
  };
}
