// tenancy: Cursors out of the neighbour's lists, and forged ones, in the attacker's.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';
import { OWNED } from '../../support/hostile-tenancy.ts';

const world = hostile();

it('a cursor is a place in one’s own list, whoever made it', async () => {
  const { attacker, neighbour } = world;
  for (let n = 0; n < 3; n++) await neighbour.deploy(OWNED);
  const own = await attacker.deploy(OWNED);
  const { page_info: page } = (await neighbour.api('GET', '/sources?limit=1')).body as {
    page_info: { start_cursor: string; end_cursor: string };
  };
  const forged = Buffer.from("9999999999999999:x' or '1'='1").toString('base64url');
  await world.unharmed(async () => {
    for (const cursor of [page.start_cursor, page.end_cursor]) {
      for (const side of ['after', 'before']) {
        const list = await attacker.api('GET', `/sources?limit=100&${side}=${cursor}`);
        expect(list.status).toBe(200);
        const ids = (list.body.data as { id: string }[]).map(({ id }) => id);
        expect(ids.filter((id) => id !== own.id)).toEqual([]);
        expect(list.body.page_info.total_count).toBe(1);
      }
    }
    expect((await attacker.api('GET', `/sources?after=${forged}`)).status).toBe(400);
  });
});
