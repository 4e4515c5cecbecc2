// fairness: Sixty writes to a data store that is being emptied: each would keep one of the node's few connections waiting.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

it('two wait at the database, the others for their turn, and the neighbour is served meanwhile', async () => {
  const { attacker, neighbour, sql } = world;
  const store = (await attacker.api('POST', '/data_stores', { name: 'Held' })).body.data.id as string;
  const write = (n: number) => attacker.api('PUT', `/data_stores/${store}/record`, { key: `k${n}`, value: n });
  await world.unharmed(async () => {
    let writes: Promise<{ status: number }>[] = [];
    await sql.begin(async (tx) => {
      // Simulates the lock of a deletion of a hundred thousand records.
      await tx`select from data_stores where id = ${store} for update`;
      writes = Array.from({ length: 60 }, (_, n) => write(n));
      for (let n = 0; n < 5; n++) expect((await neighbour.api('GET', '/sources')).status).toBe(200);
    });
    expect((await Promise.all(writes)).map(({ status }) => status)).toEqual(writes.map(() => 200));
  });
});
