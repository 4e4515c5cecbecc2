// process: The neighbour's very code, to be given its warm isolate with its globals and its module state.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';

const world = hostile();
const CODE = `const state = { runs: 0, seen: [] };
export default { name: 'Same', key: 'same', version: '1', props: { http: '$.interface.http' },
  run(event) {
    globalThis.leaked = (globalThis.leaked ?? '') + event.mark; state.runs++; state.seen.push(event.mark);
    Object.prototype.polluted ??= event.mark;
    this.$emit({ ...state, leaked: globalThis.leaked, polluted: ({}).polluted });
  } };`;

it('isolates belong to one source of one account', async () => {
  const { attacker, neighbour, sql } = world;
  const theirs = await neighbour.deploy(CODE);
  const runTheirs = () => neighbour.api('POST', `/sources/${theirs.id}/run`, { event: { mark: 'neighbour' } });
  await runTheirs();
  const ran = await world.unharmed(async () => {
    const own = await attacker.deploy(CODE);
    await world.run(own.id, { mark: 'attacker' });
    await runTheirs();
    const again = await attacker.deploy(CODE);
    return [await world.run(own.id, { mark: 'attacker' }), await world.run(again.id, { mark: 'attacker' })];
  });
  expect(ran.flatMap(({ events }) => events)).toHaveLength(3);
  expect(JSON.stringify(ran)).not.toContain('neighbour');
  const hashes =
    await sql`select distinct code_hash from components where key = 'same' and account_id in (${attacker.id}, ${neighbour.id})`;
  expect(hashes).toHaveLength(1);
});
