// bridge: Keys named `__proto__`, constructor and prototype: in events, in the store and as names of values.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

it('are keys as any other, and no prototype is changed', async () => {
  const ran = await world.unharmed(async () => {
    const { id } = await world.attacker.deploy(`
export default { name: 'Keys', version: '1', props: { db: '$.service.db' }, run(event) {
  const evil = JSON.parse('{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},"toString":1}');
  for (const key of ['__proto__', 'constructor', 'hasOwnProperty', 'toString']) {
    const before = this.db.get(key);
    this.db.set(key, evil);
    this.$emit([key, typeof before, Object.keys(this.db.get(key))]);
  }
  this.$emit(event, { id: '__proto__', name: 'constructor', summary: '__proto__' });
  this.$emit([typeof {}.polluted, Object.keys(event), event instanceof Object]);
  this.$emit(evil);
} };`);
    const started = await fetch(`${world.server.url}/v1/sources/${id}/run`, {
      method: 'POST',
      headers: { authorization: `Bearer ${world.attacker.key}`, 'content-type': 'application/json' },
      body: '{"event":{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}}',
    });
    expect(started.status).toBe(200);
    await world.untilIdle();
    return world.attacker.api('GET', `/sources/${id}/event_summaries?limit=100&expand=event`);
  });
  const keys = ['__proto__', 'constructor', 'toString'];
  for (const key of ['__proto__', 'constructor', 'hasOwnProperty', 'toString'])
    expect(ran.text).toContain(JSON.stringify([key, 'undefined', keys]));
  expect(ran.text).toContain('["undefined",["__proto__","constructor"],true]');
  expect(ran.text).toContain('{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},"toString":1}');
  expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
});
