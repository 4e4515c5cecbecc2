// ingress: Dynamic props, values, keys and channels with NUL characters and halves of surrogate pairs, which Postgres refuses.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

const TEXTS = [String.raw`\0`, String.raw`\ud800`, String.raw`\udc00x`];

it('each is a clear refusal or is stored, and never a failure of the server', async () => {
  const { attacker } = world;
  const store = (await attacker.api('POST', '/data_stores', { name: 'Own' })).body.data.id as string;
  await world.unharmed(async () => {
    for (const text of TEXTS) {
      for (const definition of [
        `{ x: { type: 'string', label: '${text}' } }`,
        `{ ['x${text}']: { type: 'string' } }`,
      ]) {
        const code = `export default { name: 'Odd', version: '1', props: { on: { type: 'string', reloadProps: true } },
          additionalProps() { return ${definition}; }, run() {} };`;
        const { body } = await attacker.api('POST', '/components', { component_code: code });
        const asked = await attacker.api('POST', `/components/${body.data.id}/props`, {});
        expect([text, asked.status]).toEqual([text, 422]);
        const made = await attacker.api('POST', '/sources', {
          component_id: body.data.id,
          configured_props: { on: 'x' },
        });
        expect([text, made.status]).toEqual([text, 422]);
      }
      for (const definition of [
        `name: 'a${text}', props: {}`,
        `name: 'Odd', description: '${text}', props: {}`,
        `name: 'Odd', props: { x: { type: 'string', label: '${text}' } }`,
        `name: 'Odd', props: { ['x${text}']: { type: 'string' } }`,
      ]) {
        const code = `export default { version: '1', ${definition}, run() {} };`;
        const { status, body } = await attacker.api('POST', '/components', { component_code: code });
        expect([definition, status, body.detail]).toEqual([
          definition,
          400,
          expect.stringContaining('cannot be stored'),
        ]);
      }
      const trigger = {
        source_id: 'dc_any',
        event_name: JSON.parse(`"${text.replace(String.raw`\0`, String.raw`\u0000`)}"`),
      };
      const flow = await attacker.api('POST', '/workflows', { name: 'Odd', triggers: [trigger] });
      expect([text, flow.status, flow.body.errors[0].path]).toEqual([text, 400, 'triggers.0.event_name']);
      const record = await world.attack(
        `export default { name: 'Writer', version: '1', props: { store: 'data_store' }, async run() {
          await this.store.set('value', '${text}');
          this.$emit({ same: (await this.store.get('value')) === '${text}', key: await this.store.set('k${text}', 1).catch((error) => error.message) });
        } };`,
        { props: { store } },
      );
      expect(record.events).toEqual([{ same: true, key: expect.stringContaining('cannot be stored') }]);
    }
  });
});
