// bridge: NUL characters and halves of surrogate pairs in events, ids, summaries, channels, keys, values and logs.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

it('the run commits, and its events can be read', async () => {
  const ran = await world.unharmed(() =>
    world.attack(`
const odd = ['\\0', '\\ud800', '\\udfff\\ud800', '\\u2028', '\\x1b[2J', '\\uffff'];
for (const text of odd) {
  this.$emit({ [text]: text }, { id: text + 'id', summary: text, name: undefined });
  this.$emit('on a channel', { id: text + 'channel', name: 'c' + text });
  this.db.set('key' + text, { [text]: text });
  console.log(text, { [text]: text });
}
this.$emit(odd.map((text) => Object.keys(this.db.get('key' + text)).length), { id: 'end' });
throw new Error('end' + odd.join(''));`),
  );
  expect(ran.error).toMatchObject({ code: 'COMPONENT_ERROR', message: expect.stringMatching(/^end/) as string });
  expect(ran.events).toContainEqual([1, 1, 1, 1, 1, 1]);
});
