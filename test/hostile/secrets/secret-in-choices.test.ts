// secrets: A secret of a source, and one just typed in, shown by the choices, the props and the errors of a form.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

const SECRET = 'a-token-of-many-characters';
const FORM = `export default { name: 'Form', version: '1',
  props: { token: { type: 'string', secret: true },
    shown: { type: 'string', optional: true, async options() { return [this.token, { label: 'x' + this.token, value: { deep: [btoa(this.token)] } }]; } },
    thrown: { type: 'string', optional: true, async options() { console.log(this.token); throw new Error(encodeURIComponent(this.token)); } } },
  additionalProps() { return { more: { type: 'string', label: this.token, default: this.token, optional: true } }; },
  run() {} };`;

it('is named, not shown', async () => {
  const { attacker } = world;
  const { id } = (await attacker.api('POST', '/components', { component_code: FORM })).body.data as { id: string };
  const source = await attacker.deploy(FORM, { token: SECRET });
  await world.unharmed(async () => {
    for (const form of [{ source_id: source.id }, { configured_props: { token: SECRET } }]) {
      const answers = [
        await attacker.api('POST', `/components/${id}/configure`, { ...form, prop_name: 'shown' }),
        await attacker.api('POST', `/components/${id}/configure`, { ...form, prop_name: 'thrown' }),
        await attacker.api('POST', `/components/${id}/props`, form),
      ];
      expect(answers.map(({ status }) => status)).toEqual([200, 422, 200]);
      for (const { text } of answers) {
        expect(text).not.toContain(SECRET);
        expect(text).not.toContain(btoa(SECRET));
        expect(text).toContain('[secret:token]');
      }
    }
  });
});
