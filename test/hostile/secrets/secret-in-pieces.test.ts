// secrets: A secret as bytes, as JSON.parse quotes ten characters of it, in a host's name, and in a URL within a URL.
import { expect, it } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

const token = 'Sk-Live-51HabcDEFghi';
/** In each of them it could be read. */
const PIECES = [token.slice(0, 8), token.toLowerCase().slice(0, 8), [...Buffer.from(token.slice(0, 6))].join()];
const component = (body: string) => `export default { name: 'Shows', version: '1',
  props: { token: { type: 'string', secret: true } }, async run() { const { token } = this; ${body} } };`;

const BODIES = [
  'console.log(Buffer.from(token), [Buffer.from(token)], { deep: [new TextEncoder().encode(token)] });',
  'this.$emit({ key: Buffer.from(token), list: [1, ...Buffer.from(token), 2] });',
  'JSON.parse(token);',
  `JSON.parse('{"key":"' + token + '","more":' + token + '}');`,
  `await fetch('http://' + token + '.invalid/');`,
  `throw new Error('https://a.example/?to=' + encodeURIComponent('https://b.example/?token=' + token));`,
];

/** Those that it has. */
function piecesIn(shown: string): string[] {
  const dense = shown.replaceAll(/\\n|\s/g, '');
  return PIECES.filter((piece) => dense.includes(piece));
}

it('is in no log line, no error and no event', async () => {
  await world.unharmed(async () => {
    for (const body of BODIES) {
      const ran = await world.attack(component(body), { props: { token } });
      const events = await world.sql`select data from events where emitter_id = ${ran.sourceId}`;
      expect([body, piecesIn(JSON.stringify([ran.error, ran.logs, events]))]).toEqual([body, []]);
    }
  });
});

it('is in nothing that a step logs, returns or fails with', async () => {
  const { attacker } = world;
  await attacker.api('PUT', '/environment_variables/PIECES', { value: token });
  const action = `export default { name: 'Shows', version: '1', type: 'action', props: { token: { type: 'string' } },
    async run({ $ }) { const bytes = Buffer.from(this.token); console.log(bytes); $.export('key', bytes);
      try { JSON.parse(this.token); } catch (error) { console.log(error.message); } return { bytes }; } };`;
  const steps = [{ namespace: 'shows', component_code: action, props: { token: '{{env.PIECES}}' } }];
  const { id } = (await attacker.api('POST', '/workflows', { name: 'Shows', steps })).body.data as { id: string };
  await world.unharmed(async () => {
    const ran = (await attacker.api('POST', `/workflows/${id}/run`, {})).body.data as { execution_id: string };
    const shown = await eventually(async () => {
      const { body, text } = await attacker.api('GET', `/executions/${ran.execution_id}`);
      return body.data?.status === 'succeeded' && text;
    });
    expect(shown).toContain('[secret:env.PIECES]');
    expect(piecesIn(shown)).toEqual([]);
  });
});
