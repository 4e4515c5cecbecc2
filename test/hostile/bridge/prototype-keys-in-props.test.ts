// bridge: Props and methods named `__proto__`, constructor and $emit, with values of the attacker's.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';
import type { ApiAnswer } from '../../support/server.ts';

const world = hostile();

const component = (props: string) => `export default { name: 'Props', version: '1', props: ${props},
  methods: { ['__proto__']() {}, hasOwnProperty() { return 'own'; } },
  run() { this.$emit([typeof {}.polluted, typeof this.polluted, this.toString, this.hasOwnProperty()]); } };`;

/** `values` as JSON, of which an object with a member `__proto__` of its own is read. */
const deploy = (props: string, values: string): Promise<ApiAnswer> =>
  world.attacker.api('POST', '/sources', { component_code: component(props), configured_props: JSON.parse(values) });

it('props of such names are refused', async () => {
  const props = `{ ['__proto__']: { type: 'string' }, constructor: { type: 'string' }, $emit: { type: 'string' } }`;
  const { status, body } = await world.unharmed(() => deploy(props, '{"__proto__":{"polluted":1},"constructor":"c"}'));
  const message = 'this name is reserved';
  expect(status).toBe(400);
  expect(body.errors).toEqual(
    ['__proto__', 'constructor', '$emit'].map((name) => ({ path: `props.${name}`, message })),
  );
});

it("methods of such names are the component's own affair, and a value without a prop is nobody's", async () => {
  const ran = await world.unharmed(async () => {
    const { status, body } = await deploy(
      `{ toString: { type: 'string' } }`,
      '{"__proto__":{"polluted":1},"toString":"t"}',
    );
    expect([status, Object.keys(body.data.configured_props)]).toEqual([200, ['toString']]);
    return world.run(body.data.id as string);
  });
  expect(ran.error).toBeUndefined();
  expect(ran.events).toEqual([['undefined', 'undefined', 't', 'own']]);
});
