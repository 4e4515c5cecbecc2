// process: Two sources of one account that hash without end, in turn: the process is asked again before it has answered.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';
import { longRun } from '../../support/long-run.ts';

const world = hostile();
const RUN_CPU_MS = longRun(1_500, 3_000);

const source = (body: string) => `
export default { name: 'Asks', version: '1', async run() {
  const { createHash } = process.getBuiltinModule('crypto');
  const data = new Uint8Array(2 ** 20);
  ${body}
} };`;
const LOOP = source('for (;;) createHash("sha256").update(data).digest();');
const WAITS = source(`const pauses = [];
for (let n = 0; n < 20; n++) {
  const before = Date.now();
  await new Promise((resolve) => setTimeout(resolve, 50));
  pauses.push(Date.now() - before);
}
this.$emit(Math.max(...pauses));`);

it('end at their limit of CPU time, and a run beside them has its timers', async () => {
  await world.limit({ runCpuMs: RUN_CPU_MS });
  const [first, second, waits] = await world.unharmed(async () => {
    const ids: string[] = [];
    for (const code of [LOOP, LOOP, WAITS]) ids.push((await world.attacker.deploy(code)).id);
    return Promise.all(ids.map((id) => world.run(id, {}, 60_000)));
  });
  const limit = { name: 'runCpuMs', value: RUN_CPU_MS, used: expect.any(Number) as number };
  expect([first?.error, second?.error]).toMatchObject([
    { code: 'CPU_LIMIT', limit },
    { code: 'CPU_LIMIT', limit },
  ]);
  expect(waits?.error).toBeUndefined();
  expect(waits?.events[0]).toBeLessThan(2_000);
});
