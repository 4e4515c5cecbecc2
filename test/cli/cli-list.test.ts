import { expect, test } from 'vitest';
import { cliWorld } from '../support/cli-world.ts';
import { makeMember } from '../support/members.ts';

const world = cliWorld({ shared: true });

test('--named lists what has the text in its name', async () => {
  for (const name of ['Billing EU', 'Orders']) {
    await world.hw.api('POST', '/sources', { kind: 'ingest', name });
    await world.hw.api('POST', '/webhooks', { name, url: 'https://example.com/hook' });
  }
  expect(await world.user.json('list', '--named', 'bill')).toMatchObject([{ name: 'Billing EU' }]);
  expect(await world.user.json('webhooks', 'list', '--named', 'ORD')).toMatchObject([{ name: 'Orders' }]);
  expect(await world.user.json('workflows', 'list', '--named', 'ord')).toEqual([]);
});

test('--named is refused where a list has no names to look in', async () => {
  const { code, stderr } = await world.user.hw(['list', 'subscriptions', '--named', 'bill']);
  expect(code).toBe(2);
  expect(stderr).toContain('--named goes with sources, workflows and webhooks');
});

test('--owner lists the sources of one member, by e-mail address, id or me', async () => {
  const ada = await makeMember(world.hw, 'ada.of.hw@example.com', 'developer');
  const { data: made } = await ada.api('POST', '/sources', { kind: 'ingest', name: 'Made by Ada' });
  expect(await world.user.json('list', '--owner', 'ada.of.hw@example.com')).toMatchObject([{ id: made.id }]);
  expect(await world.user.json('list', 'sources', '--owner', made.user_id)).toMatchObject([{ id: made.id }]);
  const own = await world.user.json('list', '--owner', 'me');
  expect(own).not.toContainEqual(expect.objectContaining({ id: made.id }));
  const stranger = await world.user.hw(['list', '--owner', 'nobody@example.com']);
  expect(stranger.stderr).toContain('No member nobody@example.com in this account');
  const { code, stderr } = await world.user.hw(['list', 'webhooks', '--owner', 'me']);
  expect([code, stderr]).toEqual([2, expect.stringContaining('--owner goes with sources, not with webhooks')]);
});
