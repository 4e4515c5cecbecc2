// tenancy: A request to the attacker's endpoint that names the neighbour's in Host, in an absolute URL and in rewrite headers.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';
import { eventually } from '../../support/eventually.ts';
import { exchange } from '../../support/hostile-ingress.ts';
import { OWNED } from '../../support/hostile-tenancy.ts';

const world = hostile();

it('goes where its path says', async () => {
  const { attacker, neighbour, sql } = world;
  const [own, theirs] = await Promise.all([attacker.deploy(OWNED), neighbour.deploy(OWNED)]);
  const [ownPath, theirPath] = [new URL(own.endpoint).pathname, new URL(theirs.endpoint).pathname];
  const key = theirPath.split('/').at(-1);
  const heads = [
    `POST ${ownPath} HTTP/1.1\r\nhost: ${key}.localhost\r\n`,
    `POST http://${key}.localhost${ownPath} HTTP/1.1\r\nhost: x\r\n`,
    `POST ${ownPath} HTTP/1.1\r\nhost: x\r\nx-original-url: ${theirPath}\r\nx-rewrite-url: ${theirPath}\r\n`,
    `POST ${ownPath} HTTP/1.1\r\nhost: x\r\nx-forwarded-host: ${key}.localhost\r\nx-forwarded-prefix: ${theirPath}\r\n`,
    `POST ${ownPath}/..${theirPath} HTTP/1.1\r\nhost: x\r\n`,
  ];
  await world.unharmed(async () => {
    for (const head of heads) {
      const { statuses } = await exchange(world.server, `${head}content-length: 1\r\nconnection: close\r\n\r\n1`);
      expect([head, statuses]).toEqual([head, [200]]);
    }
  });
  const eventsOf = (id: string) => sql`select from events where emitter_id = ${id}`;
  await eventually(async () => (await eventsOf(own.id)).length >= heads.length);
  expect(await eventsOf(theirs.id)).toHaveLength(0);
});
