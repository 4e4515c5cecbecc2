// bridge: Emits, writes, requests, timers and answers after a run has ended, by itself and from a later run.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

const CODE = `
let before;
const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
// A timer that holds no run: the first run ends before it is due.
const later = (ms) => new Promise((resolve) => setTimeout(resolve, ms).unref());
export default { name: 'Late', version: '1', props: { db: '$.service.db' }, async run({ late }) {
  if (!late) {
    before = this;
    this.$emit('in time');
    later(1).then(() => { this.$emit('late'); this.db.set('late', 1); fetch('http://127.0.0.1:1/'); setInterval(() => this.$emit('interval'), 1); });
    return;
  }
  before?.$emit('through another');
  before?.db.set('late', 2);
  let read = 'nothing to read with';
  try { if (before) { before.db.get('other'); read = 'read'; } } catch (error) { read = error.name; }
  await wait(20);
  this.$emit(['second', this.db.get('late') ?? null, read === 'read']);
} };`;

it('count for nothing', async () => {
  const ran = await world.unharmed(async () => {
    const { id } = await world.attacker.deploy(CODE);
    await world.run(id, { late: false });
    return world.run(id, { late: true });
  });
  expect(ran.error).toBeUndefined();
  expect(ran.events).toEqual(['in time', ['second', null, false]]);
});
