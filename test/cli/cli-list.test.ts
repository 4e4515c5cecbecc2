import { expect, test } from 'vitest';
import { cliWorld } from '../support/cli-world.ts';

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
