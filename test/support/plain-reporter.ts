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

/** Failures of a file by name, each with the first line of its error. */
function failuresOf(module: TestModule, which: 'now' | 'at first'): Map<string, string> {
  const failures = new Map<string, string>();
  const note = (name: string, errors: readonly SerializedError[] | undefined) =>
    failures.set(`${module.relativeModuleId}${name}`, errors?.[0]?.message.split('\n', 1)[0] ?? '');
  if (module.errors().length > 0) note('', module.errors());
  for (const suite of module.children.allSuites()) {
    if (suite.errors().length > 0) note(` > ${suite.fullName}`, suite.errors());
  }
  for (const test of module.children.allTests()) {
    const { state, errors } = test.result();
    const wasFlaky = which === 'at first' && test.diagnostic()?.flaky === true;
    if (state === 'failed' || wasFlaky) note(` > ${test.fullName}`, errors);
  }
  return failures;
}

/**
 * Ends the output with a line that machines and people read alike: `12 passed, 0 failed, 1
 * skipped`. A file that ran again counts as it ended. Before the line are the tests that passed
 * only at the second try: what they say about time, or a race, is worth a look.
 */
export function plainReporter(): Reporter {
  const ended = new Map<string, TestModule>();
  const failures = new Map<string, string>();
  let unhandled: readonly SerializedError[] = [];
  let hasRun = false;
  return {
    onInit() {
      // At exit, because global teardown and other reporters may print after the run's end.
      process.once('exit', () => {
        if (!hasRun) return;
        const { passed, failed, skipped } = countTests([...ended.values()], unhandled);
        const failing = new Set([...ended.values()].flatMap((module) => [...failuresOf(module, 'now').keys()]));
        for (const [name, error] of failures) {
          if (!failing.has(name)) process.stdout.write(`\npassed at the second try: ${name}: ${error}`);
        }
        process.stdout.write(`\n${passed} passed, ${failed} failed, ${skipped} skipped\n`);
      });
    },
    onTestRunEnd(modules, unhandledErrors) {
      hasRun = true;
      unhandled = [...unhandled, ...unhandledErrors];
      for (const module of modules) {
        ended.set(`${module.project.name} ${module.moduleId}`, module);
        for (const [name, error] of failuresOf(module, 'at first')) failures.set(name, error);
      }
    },
  };
}
