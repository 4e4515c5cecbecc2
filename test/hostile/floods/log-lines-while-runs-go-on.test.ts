// fairness: Many runs that log without a pause and do not end, to be shown to followers all at
// once.
import { expect, it } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { openEventSource } from '../../support/event-source.ts';
import { hostile } from '../../support/hostile.ts';
import { longRun } from '../../support/long-run.ts';

const world = hostile();
const RUNS = longRun(8, 20);
const ROUNDS = longRun(6, 12);

it('what is stored of each before its end is bounded, and a neighbour is followed meanwhile', async () => {
  const { attacker, neighbour, sql, server } = world;
  const flood = await attacker.deploy(
    `export default { name: 'Flood', version: '1', async run() {
       for (let round = 0; round < ${ROUNDS}; round++) {
         for (let i = 0; i < 40; i++) console.log(String.fromCharCode(0, 34, 92).repeat(2_600));
         await new Promise((done) => setTimeout(done, 250));
       }
     } };`,
  );
  const slow = await neighbour.deploy(
    `export default { name: 'Slow', version: '1', async run() {
       console.log('first'); await new Promise((done) => setTimeout(done, ${ROUNDS * 500})); console.log('last');
     } };`,
  );
  const stream = await openEventSource(`${server.url}/v1/sources/${slow.id}/logs`, neighbour.key);
  try {
    await world.unharmed(async () => {
      for (let n = 0; n < RUNS; n++) await attacker.api('POST', `/sources/${flood.id}/run`, {});
      await neighbour.api('POST', `/sources/${slow.id}/run`, {});
      await eventually(() => stream.messages.length > 0, { what: 'the first line of the neighbour' });
      const [parts] = await sql<{ longest: number; runs: number }[]>`
        select coalesce(max(octet_length(logs)), 0)::int as longest, count(distinct run_id)::int as runs
        from live_lines where emitter_id = ${flood.id}`;
      // Twice the characters of a part at most, as JSON.
      expect(parts?.longest).toBeLessThan(300_000);
      await world.untilIdle(120_000);
      await eventually(() => stream.messages.length >= 2, { what: 'the last line of the neighbour' });
    });
    expect(stream.messages.map(({ data }) => data.event.message)).toEqual(['first', 'last']);
  } finally {
    stream.close();
  }
});
