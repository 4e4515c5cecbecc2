// tenancy: The names of the neighbour's environment variables, in every route and in the props of steps.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';
import { comparable } from '../../support/hostile-tenancy.ts';
import { echo } from '../../support/workflow-steps.ts';

const world = hostile();

it('are answered like names that nobody has, and the variables are as they were', async () => {
  const { attacker, neighbour, sql } = world;
  await neighbour.api('PUT', '/environment_variables/THEIRS', { value: 'secret-of-the-neighbour' });
  const [{ id: accountId }] = (await neighbour.api('GET', '/users/me')).body.data.orgs as [{ id: string }];
  const stored = () => sql`select name, value from environment_variables where account_id = ${accountId}`;
  const before = await stored();
  await world.unharmed(async () => {
    for (const method of ['GET', 'DELETE'] as const) {
      const foreign = await attacker.api(method, '/environment_variables/THEIRS');
      const unknown = await attacker.api(method, '/environment_variables/NOBODYS');
      expect(foreign.status).toBe(404);
      expect(comparable(foreign, 'THEIRS')).toEqual(comparable(unknown, 'NOBODYS'));
    }
    const made = await attacker.api('POST', '/workflows', { steps: [echo('a', { text: '{{env.THEIRS}}' })] });
    expect([made.status, made.text]).toEqual([400, expect.stringContaining('has no environment variable THEIRS')]);
    // One of the same name is the attacker's own.
    await attacker.api('PUT', '/environment_variables/THEIRS', { value: 'own' });
    const listed = await attacker.api('GET', '/environment_variables');
    expect(listed.body.data.map(({ name }: { name: string }) => name)).toEqual(['THEIRS']);
    expect((await attacker.api('DELETE', '/environment_variables/THEIRS')).status).toBe(204);
  });
  expect(await stored()).toEqual(before);
});
