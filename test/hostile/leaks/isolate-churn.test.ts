// process: Hundreds of sources of one tenant in turn, each of which wants an isolate of its own.
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { childProcesses } from '../../support/child-processes.ts';
import { hostile } from '../../support/hostile.ts';
import { longRun } from '../../support/long-run.ts';
import { bundle, freshKey, sandboxForFile, withRun } from '../../support/sandbox-kit.ts';

const world = hostile();
const sandbox = sandboxForFile({ maxIsolates: 4 });
/** Ten thousand in the long run of the tests. */
const ISOLATES = longRun(250, 10_000);
const WARM_UP = 100;
const AT_ONCE = 4;
/** A leaked isolate takes a megabyte, and its data for a run a tenth of one. */
const MAX_GROWTH_MB = 32;

function residentMb(pid: number): number {
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;
}

it.runIf(process.platform === 'linux')(
  'isolates that were let go leave no memory behind',
  { timeout: 900_000 },
  async () => {
    const component = await bundle(
      withRun(`kept.push(...new Array(1e4).fill(event)); this.$emit(kept.length)`, 'const kept = [];'),
    );
    const churn = async (count: number): Promise<void> => {
      let left = count;
      const one = async () => {
        while (left-- > 0) {
          const { host } = await sandbox.run(component, { tenantId: 'o_churn', isolateKey: freshKey() });
          expect(host.data()).toEqual([10_000]);
        }
      };
      await Promise.all(Array.from({ length: AT_ONCE }, one));
    };
    await churn(WARM_UP);
    const [child] = childProcesses();
    const before = residentMb(child!.pid);
    await world.unharmed(() => churn(ISOLATES - WARM_UP));
    expect(childProcesses().map(({ pid }) => pid)).toEqual([child!.pid]);
    expect(residentMb(child!.pid) - before).toBeLessThan(MAX_GROWTH_MB);
    const other = await sandbox.run(withRun(`this.$emit('fine')`), { tenantId: 'o_other' });
    expect(other.host.data()).toEqual(['fine']);
  },
);
