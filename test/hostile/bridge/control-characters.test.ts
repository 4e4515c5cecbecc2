// bridge: NUL characters and halves of surrogate pairs in events, ids, summaries, channels, keys, values and logs.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

it('keys, ids and channels that cannot be told apart are refused, the run commits, and its events can be read', async () => {
  const ran = await world.unharmed(() =>
    world.attack(`
const odd = ['\\0', '\\ud800', '\\udfff\\ud800', '\\u2028', '\\x1b[2J', '\\uffff'];
let refused = 0;
const attempt = (act) => { try { act(); } catch (error) { if (!/NUL|surrogate/.test(error.message)) throw error; refused += 1; } };
for (const [i, text] of odd.entries()) {
  attempt(() => this.$emit({ [text]: text }, { id: text + 'id' }));
  attempt(() => this.$emit('on a channel', { id: i + 'channel', name: 'c' + text }));
  attempt(() => this.db.set('key' + text, 1));
  this.$emit({ [text]: text }, { id: 'event' + i, summary: text, name: undefined });
  this.db.set('key' + i, { [text]: text });
  console.log(text, { [text]: text });
}
this.$emit([refused, odd.map((text, i) => Object.keys(this.db.get('key' + i)).length)], { id: 'end' });
throw new Error('end' + odd.join(''));`),
  );
  expect(ran.error).toMatchObject({ code: 'COMPONENT_ERROR', message: expect.stringMatching(/^end/) as string });
  expect(ran.events).toContainEqual([9, [1, 1, 1, 1, 1, 1]]);
});
