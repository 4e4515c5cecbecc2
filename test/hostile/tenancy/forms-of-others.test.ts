// tenancy: Filling in a form with the neighbour's source, component, dynamic props, data store and connected account.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

const FORM = `export default { name: 'Form', version: '1',
  props: { token: { type: 'string', secret: true, optional: true }, on: { type: 'boolean', optional: true, reloadProps: true },
    store: { type: 'data_store', optional: true },
    seen: { type: 'string', optional: true, async options() { return [this.token ?? 'none', String(await this.store?.keys())]; } } },
  additionalProps() { return { more: { type: 'string', optional: true, description: this.token ?? 'none' } }; },
  run() {} };`;

it('each is not found, and nothing of the neighbour is in any answer', async () => {
  const { attacker, neighbour } = world;
  const theirs = (await neighbour.api('POST', '/components', { component_code: FORM })).body.data.id as string;
  const source = await neighbour.deploy(FORM, { token: 'neighbours-token' });
  const store = (await neighbour.api('POST', '/data_stores', { name: 'Theirs' })).body.data.id as string;
  const { dynamic_props: made } = (
    await neighbour.api('POST', `/components/${theirs}/props`, { configured_props: { token: 'neighbours-token' } })
  ).body.data;
  const own = (await attacker.api('POST', '/components', { component_code: FORM })).body.data.id as string;
  await world.unharmed(async () => {
    const ask = (id: string, more: object) =>
      attacker.api('POST', `/components/${id}/configure`, { prop_name: 'seen', ...more });
    const answers = [
      [404, await ask(theirs, {})],
      [404, await attacker.api('POST', `/components/${theirs}/props`, {})],
      [404, await ask(own, { source_id: source.id })],
      [404, await attacker.api('POST', `/components/${own}/props`, { source_id: source.id })],
      [400, await ask(own, { dynamic_props_id: made.id })],
      [400, await ask(own, { configured_props: { store } })],
      [400, await attacker.api('POST', '/sources', { component_id: own, dynamic_props_id: made.id })],
    ] as const;
    for (const [expected, { status, text }] of answers) {
      expect(status).toBe(expected);
      expect(text).not.toContain('neighbours-token');
    }
  });
});
