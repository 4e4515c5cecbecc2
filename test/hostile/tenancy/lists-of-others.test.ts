// tenancy: Every list of the API, with the account named in parameters, while the neighbour has something in each.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';
import { OWNED } from '../../support/hostile-tenancy.ts';

const world = hostile();

it('shows what is the caller’s own, and counts nothing else', async () => {
  const { attacker, neighbour } = world;
  const source = await neighbour.deploy(OWNED);
  const webhook = await neighbour.api('POST', '/webhooks', { url: 'https://receiver.example/in' });
  const { id } = webhook.body.data as { id: string };
  await neighbour.api('POST', '/subscriptions', { emitter_id: source.id, listener_id: id });
  const them = `account_id=${neighbour.id}&org_id=${neighbour.id}&workspace_id=${neighbour.id}&user_id=*`;
  await world.unharmed(async () => {
    for (const place of ['', '/users/me', `/workspaces/${attacker.id}`, `/orgs/${attacker.id}`]) {
      for (const noun of ['sources', 'webhooks', 'subscriptions']) {
        const list = await attacker.api('GET', `${place}/${noun}?${them}&limit=100`);
        const { data, page_info: page } = list.body as { data: unknown[]; page_info: { total_count: number } };
        expect([place, noun, list.status, data, page.total_count]).toEqual([place, noun, 200, [], 0]);
      }
    }
    const keys = await attacker.api('GET', `/api_keys?${them}`);
    expect(keys.body.data).toHaveLength(1);
  });
  expect((await neighbour.api('GET', '/sources')).text).toContain(source.id);
});
