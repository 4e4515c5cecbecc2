// tenancy: Taking the neighbour's names: the same source name, component key and version, and their slugs in paths.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';
import { OWNED } from '../../support/hostile-tenancy.ts';

const world = hostile();

it('names are each account’s own', async () => {
  const { attacker, neighbour } = world;
  const make = (who: typeof attacker, code: string) =>
    who
      .api('POST', '/sources', { component_code: code, name: 'Payments' })
      .then((answer) => answer.body.data as { id: string; name_slug: string });
  const theirs = await make(neighbour, OWNED);
  await world.unharmed(async () => {
    expect((await attacker.api('GET', `/sources/${theirs.name_slug}`)).status).toBe(404);
    const own = await make(attacker, OWNED.replace('event.body', '"of the attacker"'));
    expect(own.name_slug).toBe(theirs.name_slug);
    expect((await attacker.api('GET', '/components/owned')).text).toContain('of the attacker');
    await attacker.api('DELETE', `/sources/${own.name_slug}`);
    await attacker.api('DELETE', `/sources/${own.id}`);
  });
  const shown = await neighbour.api('GET', '/components/owned');
  expect(shown.text).not.toContain('of the attacker');
  expect((await neighbour.api('GET', `/sources/${theirs.id}`)).body.data).toMatchObject({
    id: theirs.id,
    active: true,
  });
});
