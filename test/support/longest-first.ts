import path from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * Half a minute and more each, whatever their size. Begun among the last, one of them would keep a
 * single processor busy while the others had nothing left to do. Vitest knows how long files took,
 * but not in a fresh clone.
 */
const LONGEST = [
  'engine/accounts/account-backlog',
  'api/api-process',
  'sandbox-runtime/build-imports',
  'cli/cli-commands',
  'cli/cli-init',
  'cli/cli-prompts',
  'cli/cli-server',
  'repository/compat-report',
  'end-to-end/crash-recovery',
  'engine/db/database-embedded',
  'repository/dependency-rules',
  'engine/secrets/encryption-key',
  'end-to-end/http-clients',
  'hostile/floods/changes-of-many-sources',
  'hostile/floods/dynamic-props',
  'hostile/floods/executions-that-wake-together',
  'hostile/leaks/isolate-churn',
  'hostile/memory/large-code-of-many-sources',
  'hostile/registry/import-behind-slow-builds',
  'engine/db/lease-model',
  'engine/sources/lifecycle-external-webhook',
  'sandbox-runtime/sandbox-limits',
  'sandbox-runtime/sandbox-processes',
  'engine/secrets/secrets-rotation',
  'engine/db/stop-under-load',
  'engine/sources/timer-model',
  'engine/sources/timers-sources',
  'engine/workflows/workflows-end-to-end-restart',
  'engine/workflows/workflows-run-crash',
].map((name) => path.resolve('test', `${name}.test.ts`));

/** As Vitest orders files, but those first, in each project. */
export class LongestFirst extends BaseSequencer {
  override async sort(specifications: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(specifications);
    const projects = [...new Set(sorted.map(({ project }) => project))];
    return projects.flatMap((project) => {
      const own = sorted.filter((one) => one.project === project);
      const isLong = ({ moduleId }: TestSpecification) => LONGEST.includes(moduleId);
      return [...own.filter(isLong), ...own.filter((one) => !isLong(one))];
    });
  }
}
