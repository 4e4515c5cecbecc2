// limits: respond called without end in one run.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

it('one answer counts; the warnings about the others are log lines, within their limit', async () => {
  await world.limit({ runCpuMs: 300, maxLogLinesPerRun: 20 });
  const ran = await world.unharmed(() =>
    world.attack(
      `export default { name: 'x', version: '1', props: { http: '$.interface.http' }, async run() { for (;;) this.http.respond({ status: 200, body: 'x'.repeat(1000) }) } };`,
    ),
  );
  expect(ran.error).toMatchObject({ code: 'CPU_LIMIT', limit: { name: 'runCpuMs', value: 300 } });
  expect(ran.logs).toHaveLength(21);
});
