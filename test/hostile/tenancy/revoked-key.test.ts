// tenancy: A key that was revoked, on requests that keep coming on warm connections.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

it('is over with the answer that revoked it', async () => {
  const { attacker, server } = world;
  await world.unharmed(async () => {
    const made = await attacker.api('POST', '/api_keys', { name: 'stolen' });
    const { id, api_key: key } = made.body.data as { id: string; api_key: string };
    const asks = () => fetch(`${server.url}/v1/sources`, { headers: { authorization: `Bearer ${key}` } });
    expect(await Promise.all([asks(), asks(), asks()].map(async (answer) => (await answer).status))).toEqual([
      200, 200, 200,
    ]);
    expect((await attacker.api('DELETE', `/api_keys/${id}`)).status).toBe(204);
    expect(await Promise.all([asks(), asks(), asks()].map(async (answer) => (await answer).status))).toEqual([
      401, 401, 401,
    ]);
  });
});
