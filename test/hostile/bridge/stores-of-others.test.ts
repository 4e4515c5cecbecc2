// bridge: A process that has been taken over asks for data stores which are none of the props of its run.
import { expect, it } from 'vitest';
import { runInForgedProcess } from '../../support/hostile-process.ts';
import { hostile } from '../../support/hostile.ts';
import { recordingHost } from '../../support/run-host.ts';

const world = hostile();

it('only the stores of its own props are asked', async () => {
  let asked: string[] = [];
  const host = recordingHost({
    dataStore: (call) => {
      asked.push(`${call.op} ${call.storeId}`);
      return Promise.resolve({ ok: true });
    },
  });
  const props = { ds: { kind: 'data-store', id: 'ds_own' }, text: { kind: 'value', value: 'ds_text' } } as const;
  const ran = await world.unharmed(() => {
    asked = [];
    return runInForgedProcess(
      `function attack() {
  const ids = ['ds_other', 'ds_text', '', 'ds_own ', '__proto__', 'ds_own'];
  ids.forEach((storeId, i) => send(DATA_STORE, 1, String(i), JSON.stringify({ storeId, op: 'clear' })));
  setTimeout(() => send(OUTCOME, 1, '[1,1]'), 100);
}`,
      { props },
      host,
    );
  });
  expect(ran.outcome).toMatchObject({ ok: true });
  expect(asked).toEqual(['clear ds_own']);
  expect(ran).toMatchObject({ other: { ok: true }, otherData: ['honest'] });
});
