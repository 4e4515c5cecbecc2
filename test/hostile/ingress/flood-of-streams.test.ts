// limits: Hundreds of streams that one account opens at once, and opens again as soon as they are refused.
import { expect, it } from 'vitest';
import { openEventSource, type TestEventSource } from '../../support/event-source.ts';
import { eventually } from '../../support/eventually.ts';
import { hostile } from '../../support/hostile.ts';

const world = hostile();
const CODE = `export default { name: 'Hello', version: '1', props: { http: '$.interface.http' }, run() { this.$emit(1); } };`;

it('the account has as many as it may, and the neighbour its own', async () => {
  const { attacker, neighbour, server } = world;
  await world.limit({ maxStreams: 20 });
  const [own, theirs] = [await attacker.deploy(CODE), await neighbour.deploy(CODE)];
  const open: TestEventSource[] = [];
  let refused = 0;
  let attacks = 0;
  await world.unharmed(async () => {
    attacks++;
    for (let round = 0; round < 5; round++) {
      const opened = await Promise.all(
        Array.from({ length: 60 }, () => openEventSource(`${server.url}/v1/sources/${own.id}/sse`, attacker.key)),
      );
      for (const stream of opened) {
        if (stream.status === 200) open.push(stream);
        else refused += Number(stream.status === 429 && (await stream.text()).includes('maxStreams'));
      }
    }
    const other = await openEventSource(`${server.url}/v1/sources/${theirs.id}/sse`, neighbour.key);
    await fetch(theirs.endpoint, { method: 'POST' });
    // Those of attacks before are sent again.
    await eventually(() => other.messages.length === attacks);
    other.close();
  });
  expect([open.length, refused]).toEqual([20, attacks * 300 - 20]);
  // Those that have their place hear what comes.
  await fetch(own.endpoint, { method: 'POST' });
  await eventually(() => open.every(({ messages }) => messages.length === 1));
  for (const stream of open) stream.close();
});
