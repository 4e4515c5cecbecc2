import path from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * Files that take half a minute or more, regardless of their size. Started last, one of them would
 * keep one processor busy while the others are idle. Vitest knows durations of files, but not in a
 * fresh clone.
 */
const LONGEST = [
  'api/api-process',
  'api/workers',
  'cli/cli-commands',
  'cli/cli-init',
  'cli/cli-prompts',
  'cli/cli-server',
  'end-to-end/crash-recovery',
  'end-to-end/http-clients',
  'end-to-end/node-kills',
  'engine/accounts/account-backlog',
  'engine/cluster/backup',
  'engine/db/database-away',
  'engine/db/database-embedded',
  'engine/db/stop-under-load',
  'engine/secrets/encryption-key',
  'engine/secrets/secrets-rotation',
  'engine/sources/lifecycle-external-webhook',
  'engine/sources/timers-sources',
  'engine/workflows/workflows-end-to-end-restart',
  'engine/workflows/workflows-run-crash',
  'hostile/bridge/forged-process',
  'hostile/floods/changes',
  'hostile/floods/deliveries',
  'hostile/floods/executions',
  'hostile/floods/steps-and-sends',
  'hostile/floods/stores',
  'hostile/leaks/kept-by-runs',
  'hostile/leaks/left-open',
  'hostile/memory/texts-and-code',
  'hostile/supply-chain/tarballs',
  'repository/compat-report',
  'sandbox-runtime/sandbox-layers',
  'sandbox-runtime/sandbox-limits',
  'sandbox-runtime/sandbox-process-bounds',
  'sandbox-runtime/sandbox-processes',
  'shared/typed-limits-processing',
  'web/events',
  'web/first-run',
  'web/overview',
  'web/pages',
  'web/webhooks',
  'web/workflow-builder',
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
