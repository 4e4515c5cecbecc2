// process: Hundreds of sources of one tenant in turn, each of which wants an isolate of its own.
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { childProcesses } from '../../support/child-processes.ts';
import { bundle, freshKey, sandboxForFile, withRun } from '../../support/sandbox-kit.ts';

const sandbox = sandboxForFile({ maxIsolates: 4 });
const BATCH = 60;
const MAX_GROWTH_MB = 48;

function residentMb(pid: number): number {
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;
}

it.runIf(process.platform === 'linux')('isolates that were let go leave no memory behind', async () => {
  const component = await bundle(
    withRun(`kept.push(...new Array(1e4).fill(event)); this.$emit(kept.length)`, 'const kept = [];'),
  );
  const churn = async (): Promise<void> => {
    for (let i = 0; i < BATCH; i++) {
      const { outcome, host } = await sandbox.run(component, { tenantId: 'o_churn', isolateKey: freshKey() });
      expect(outcome.ok).toBe(true);
      expect(host.data()).toEqual([10_000]);
    }
  };
  await churn();
  const [child] = childProcesses();
  const before = residentMb(child!.pid);
  await churn();
  await churn();
  expect(childProcesses().map(({ pid }) => pid)).toEqual([child!.pid]);
  expect(residentMb(child!.pid) - before).toBeLessThan(MAX_GROWTH_MB);
  const other = await sandbox.run(withRun(`this.$emit('fine')`), { tenantId: 'o_other' });
  expect(other.host.data()).toEqual(['fine']);
});
