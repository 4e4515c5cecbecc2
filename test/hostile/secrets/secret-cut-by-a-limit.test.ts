// secrets: Texts so long that a limit cuts them in the middle of the secret, where its whole is no longer to be found.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

const token = 'abcdefghijklmnopqrstuvwxyz';
/** Five characters and fewer are in too much that is no secret. */
const PART = token.slice(0, 6);

it('what is left of it is found too', async () => {
  await world.limit({ maxLogLineBytes: 256 });
  const ran = await world.unharmed(() =>
    world.attack(
      `export default { name: 'Cuts', version: '1', props: { token: { type: 'string', secret: true } }, run() {
        for (let length = 200; length < 260; length++) console.log('x'.repeat(length) + this.token);
        for (let length = 970; length < 1000; length++) this.$emit({}, { summary: 'x'.repeat(length) + this.token });
        throw new Error('x'.repeat(4080) + this.token);
      } };`,
      { props: { token } },
    ),
  );
  const rows = await world.sql`select summary, data from events where emitter_id = ${ran.sourceId}`;
  expect([rows.length, ran.logs.length]).toEqual([31, 60]);
  expect(ran.error?.message).toMatch(/x\[secret:token\]…$/);
  for (const text of [JSON.stringify(rows), JSON.stringify(ran.error), ...ran.logs]) expect(text).not.toContain(PART);
});
