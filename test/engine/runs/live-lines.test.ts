import { expect, test } from 'vitest';
import type { LogLine } from '../../../shared/src/index.ts';
import { createLiveLines, type LiveLines } from '../../../engine/src/runs/live-lines.ts';
import type { AddedPart, LivePart } from '../../../engine/src/runs/add-live-lines.sql.ts';
import { eventually } from '../../support/eventually.ts';
import { testLog } from '../../support/logs.ts';

const line = (message: string): LogLine => ({ level: 'info', atMs: 1, message });
const run = (id: string) => ({ accountId: 'o_a', emitterId: 'dc_a', lease: { id, leasedBy: 'n', claim: 1 } });
const all = (parts: readonly LivePart[]): AddedPart[] => parts.map(({ id }) => ({ id, emitterId: 'dc_a' }));

async function withLines(
  store: (parts: readonly LivePart[]) => Promise<AddedPart[]>,
  work: (live: LiveLines) => Promise<void>,
): Promise<void> {
  const live = createLiveLines({ store, onStored: () => undefined, onBytes: () => undefined, log: testLog });
  try {
    await work(live);
  } finally {
    await live.stop();
  }
}

test('after a lost connection the same part is stored again, and the end of its run waits for that', async () => {
  const asked: string[][] = [];
  const store = async (parts: readonly LivePart[]) => {
    asked.push(parts.map(({ id, logs }) => `${id} ${logs}`));
    if (asked.length === 1) throw Object.assign(new Error('lost'), { code: 'CONNECTION_CLOSED' });
    return all(parts);
  };
  await withLines(store, async (live) => {
    const one = live.begin(run('a'));
    one.add(line('1'));
    await eventually(() => asked.length === 1, { what: 'a part is stored' });
    one.add(line('2'));
    expect(await one.end()).toBe(1);
    expect(asked).toHaveLength(2);
    expect(asked[1]).toEqual(asked[0]);
  });
});

test('a run that has ended, or is not held any more, shows nothing more', async () => {
  const asked: string[] = [];
  const store = async (parts: readonly LivePart[]) => {
    asked.push(...parts.map(({ lease }) => lease.id));
    return all(parts.filter(({ lease }) => lease.id !== 'lost'));
  };
  await withLines(store, async (live) => {
    const [quick, lost, kept] = ['quick', 'lost', 'kept'].map((id) => live.begin(run(id)));
    for (const one of [quick, lost, kept]) one?.add(line('1'));
    expect(await quick?.end()).toBe(0);
    await eventually(() => asked.length === 2, { what: 'the others are stored' });
    for (const one of [quick, lost, kept]) one?.add(line('2'));
    await eventually(() => asked.length === 3, { what: 'the next line of the one that is held' });
    expect(asked).toEqual(['lost', 'kept', 'kept']);
    expect(await Promise.all([lost?.end(), kept?.end()])).toEqual([0, 2]);
  });
});

test('accounts show their lines in turn beside a flood of one account', async () => {
  const asked: string[][] = [];
  const store = async (parts: readonly LivePart[]) => {
    asked.push(parts.map(({ accountId }) => accountId));
    return all(parts);
  };
  await withLines(store, async (live) => {
    const floods = Array.from({ length: 100 }, (_, n) => live.begin({ ...run(`flood${n}`), accountId: 'o_flood' }));
    for (const flood of floods) for (let n = 0; n < 8; n++) flood.add(line('x'.repeat(16_000)));
    live.begin({ ...run('light'), accountId: 'o_light' }).add(line('1'));
    const lightTurn = () => asked.findIndex((accounts) => accounts.includes('o_light'));
    await eventually(() => lightTurn() !== -1, { what: 'the line of the other account' });
    // The first turn in which it is due, which may be the one after that of the flood.
    expect(lightTurn()).toBeLessThanOrEqual(1);
    expect(asked[0]?.length).toBeLessThan(30);
  });
});
