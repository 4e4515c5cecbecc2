// bridge: Calls on data stores with unknown operations, values of the wrong type, huge ones, and a thousand at once.
import { expect, it } from 'vitest';
import { runInForgedProcess } from '../../support/hostile-process.ts';
import { hostile } from '../../support/hostile.ts';
import { recordingHost } from '../../support/run-host.ts';

const world = hostile();

const CALLS = {
  'an unknown operation': `send(DATA_STORE, 1, '1', JSON.stringify({ storeId: 'ds_own', op: 'drop' }))`,
  'an operation of the prototype': `send(DATA_STORE, 1, '1', JSON.stringify({ storeId: 'ds_own', op: 'constructor' }))`,
  'a key that is no string': `send(DATA_STORE, 1, '1', JSON.stringify({ storeId: 'ds_own', op: 'get', key: { a: 1 } }))`,
  'a key without end': `send(DATA_STORE, 1, '1', JSON.stringify({ storeId: 'ds_own', op: 'get', key: 'x'.repeat(100000) }))`,
  'a ttl that is none': `send(DATA_STORE, 1, '1', JSON.stringify({ storeId: 'ds_own', op: 'set', key: 'a', ttlSeconds: 'soon' }), '1')`,
  'a value of megabytes': `send(DATA_STORE, 1, '1', JSON.stringify({ storeId: 'ds_own', op: 'set', key: 'a' }), 'x'.repeat(8000000))`,
  'a head that is no JSON': `send(DATA_STORE, 1, '1', '{')`,
  'no head': `send(DATA_STORE, 1, '1')`,
  'a call without a number': `send(DATA_STORE, 1, 'one', JSON.stringify({ storeId: 'ds_own', op: 'keys' }))`,
  'a thousand calls at once': `for (let i = 0; i < 1000; i++) send(DATA_STORE, 1, String(i), JSON.stringify({ storeId: 'ds_own', op: 'keys' }))`,
};

it('each of them ends the process, and no other run notices', async () => {
  const props = { ds: { kind: 'data-store', id: 'ds_own' } } as const;
  await world.unharmed(async () => {
    for (const call of Object.values(CALLS)) {
      let most = 0;
      const host = recordingHost({
        dataStore: () => {
          most += 1;
          return new Promise(() => undefined);
        },
      });
      const ran = await runInForgedProcess(`function attack() { ${call}; }`, { props }, host);
      expect(ran.outcome).toMatchObject({ ok: false, fault: { code: 'SANDBOX_CRASHED' } });
      expect(most).toBeLessThanOrEqual(16);
      expect(ran.otherData).toEqual(['honest']);
    }
  });
});
