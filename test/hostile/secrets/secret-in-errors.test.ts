// secrets: Errors that carry a secret in the message, in the name, in causes, in the names of functions of the stack.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

const token = 'sk_live_51HabcDEF';
const component = (body: string) => `export default { name: 'Throws', version: '1',
  props: { token: { type: 'string', secret: true } }, async run() { const { token } = this; ${body} } };`;

const THROWS = [
  `throw new Error('with ' + token);`,
  `throw token;`,
  `throw { message: token, stack: token };`,
  `throw Object.assign(new TypeError('x'), { name: token });`,
  `throw new AggregateError([new Error(token)], token, { cause: token });`,
  `const o = { [token]() { throw new Error('named'); } }; o[token]();`,
  `const error = new Error('x'); error.stack = '    at ' + token + ' (hw:component:1:1)'; throw error;`,
  `await fetch('http://127.0.0.1:1/?token=' + token);`,
];

it('neither the record of the run nor the event on $errors holds it', async () => {
  await world.unharmed(async () => {
    for (const body of THROWS) {
      const ran = await world.attack(component(body), { props: { token } });
      expect([body, ran.error?.code]).toEqual([body, 'COMPONENT_ERROR']);
      expect(JSON.stringify([ran.error, ran.logs])).not.toContain(token);
      const events = await world.sql`select data from events where emitter_id = ${ran.sourceId}`;
      expect(events).toHaveLength(1);
      expect(events[0]?.['data']).not.toContain(token);
    }
  });
});
