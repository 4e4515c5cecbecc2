import { createVitest, parseCLI, type TestModule, type Vitest } from 'vitest/node';

/**
 * `npm test`: all files, then those that failed once more, one at a time, with new accounts. That
 * tells a test which is right only alone, or only once in an account, from one that finds a defect.
 * Its name is printed at the end, because both are to be mended.
 */

/** Failures of more files than these are no chance. */
const MAX_FILES_AGAIN = 8;

const { filter, options } = parseCLI(['vitest', 'run', ...process.argv.slice(2)]);
const vitest = await createVitest(Object.assign(options, { run: true, watch: false }));
try {
  const { unhandledErrors } = await vitest.start(filter);
  const failed = vitest.state.getTestModules().filter((module) => !module.ok());
  if (unhandledErrors.length === 0 && failed.length > 0 && failed.length <= MAX_FILES_AGAIN) {
    await runAgain(vitest, failed);
  }
} finally {
  await vitest.close();
}

async function runAgain(run: Vitest, failed: readonly TestModule[]): Promise<void> {
  process.exitCode = 0;
  run.config.maxWorkers = 1;
  for (const project of run.projects) project.config.maxWorkers = 1;
  process.stdout.write(`\nfailed files, run again one at a time: ${failed.length}\n`);
  await run.runTestSpecifications(failed.map((module) => module.toTestSpecification()));
}
