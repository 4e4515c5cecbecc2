import { expect, test } from 'vitest';
import type { DueDelivery } from '../../../engine/src/outbox/deliveries/due-delivery.ts';
import { createLaneChanges } from '../../../engine/src/outbox/lane-changes.ts';
import { createLanes } from '../../../engine/src/outbox/lanes.ts';
import { fc } from '../../support/properties.ts';

const delivery = (accountId: string, webhookId: string, id: string) =>
  ({ accountId, webhookId, id, data: '1' }) as DueDelivery;
const limits = { maxPerLane: 3, maxPerTenant: () => 4, maxHeldPerLane: 50, maxPerTurn: () => 1_000 };
const lane = fc.record({ tenant: fc.nat(1), hook: fc.nat(2) });
const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('push' as const), lane }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('next' as const) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('done' as const), pick: fc.nat(), timeout: fc.boolean() }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('clear' as const), lane: fc.option(lane, { nil: undefined }) }),
  },
);

/** Deliveries that should wait, by lane, and those in flight. */
function laneModel() {
  const waiting = new Map<string, DueDelivery[]>();
  const inFlight: DueDelivery[] = [];
  const of = (webhookId: string) => waiting.get(webhookId) ?? waiting.set(webhookId, []).get(webhookId)!;
  return { waiting, inFlight, of, total: () => [...waiting.values()].flat().length };
}

const nameOf = ({ tenant, hook }: { tenant: number; hook: number }) => `wh_${tenant}_${hook}`;
const idsOf = (items: readonly DueDelivery[]) => items.map(({ id }) => id).join();

test('a lane that is cleared returns its waiting items in order, and takes nothing from any other', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 150 }), (steps) => {
      const lanes = createLanes<DueDelivery>(limits, ({ webhookId }) => webhookId);
      const model = laneModel();
      const [seen, expected]: [unknown[], unknown[]] = [[], []];
      const same = (one: unknown, other: unknown) => void [seen.push(one), expected.push(other)];
      const begin = () => {
        const item = lanes.next();
        if (item === undefined) return false;
        same(item.id, model.of(item.webhookId).shift()?.id);
        model.inFlight.push(item);
        return true;
      };
      const end = (item: DueDelivery, outcome: 'answered' | 'timeout') => {
        const shed = lanes.done(item, outcome);
        const waiting = model.of(item.webhookId);
        same(idsOf(shed), idsOf(waiting.splice(waiting.length - shed.length)));
      };
      for (const [i, action] of steps.entries()) {
        if (action.kind === 'push') {
          const item = delivery(`o_${action.lane.tenant}`, nameOf(action.lane), String(i));
          lanes.push(item);
          model.of(item.webhookId).push(item);
        } else if (action.kind === 'next') begin();
        else if (action.kind === 'done') {
          const [ended] = model.inFlight.splice(action.pick % Math.max(1, model.inFlight.length), 1);
          if (ended !== undefined) end(ended, action.timeout ? 'timeout' : 'answered');
        } else {
          const cleared = Map.groupBy(lanes.clear(action.lane && nameOf(action.lane)), ({ webhookId }) => webhookId);
          const names = action.lane === undefined ? [...model.waiting.keys()] : [nameOf(action.lane)];
          for (const name of names) same(idsOf(cleared.get(name) ?? []), idsOf(model.of(name).splice(0)));
          same([...cleared.keys()].filter((name) => !names.includes(name)).join(), '');
        }
        same(lanes.waiting(), model.total());
      }
      // All remaining deliveries begin eventually. Then there is full room again if no attempt has
      // timed out.
      do {
        for (const ended of model.inFlight.splice(0)) end(ended, 'answered');
        while (begin());
      } while (model.inFlight.length > 0);
      same([model.total(), lanes.waiting()].join(), '0,0');
      const timedOut = steps.some((action) => action.kind === 'done' && action.timeout);
      for (const name of model.waiting.keys()) same(timedOut || lanes.room(name, '') === limits.maxHeldPerLane, true);
      expect(seen).toEqual(expected);
    }),
  );
});

test('a tenant whose lane is cleared gives its turn to its others, and a lane that comes again has one', () => {
  const lanes = createLanes<DueDelivery>(limits, ({ webhookId }) => webhookId);
  for (let i = 0; i < 3; i++) lanes.push(delivery('o', 'wh_1', `1-${i}`));
  lanes.push(delivery('o', 'wh_2', '2-0'));
  expect(lanes.next()?.id).toBe('1-0');
  expect(lanes.clear('wh_1').map(({ id }) => id)).toEqual(['1-1', '1-2']);
  expect([lanes.next()?.id, lanes.next()]).toEqual(['2-0', undefined]);
  expect(lanes.clear('wh_unknown')).toEqual([]);
  lanes.push(delivery('o', 'wh_1', '1-3'));
  expect(lanes.next()?.id).toBe('1-3');
});

test('a change is one of what was read before, and never of what was read after it', () => {
  const read = fc.record({ kind: fc.constant('read' as const), webhook: fc.nat(5) });
  const note = fc.record({ kind: fc.constant('note' as const), webhook: fc.option(fc.nat(5), { nil: undefined }) });
  fc.assert(
    fc.property(fc.array(fc.oneof(read, note), { maxLength: 60 }), (steps) => {
      const changes = createLaneChanges(3);
      const heard: number[] = [];
      const wrong = steps.flatMap((latest, now) => {
        heard.push(changes.heard());
        if (latest.kind === 'note') changes.note(latest.webhook === undefined ? undefined : `wh_${latest.webhook}`);
        return steps.slice(0, now).filter(({ kind, webhook }, at) => {
          if (kind === 'note') return false;
          const later = steps.slice(at, now + 1).filter((one) => one.kind === 'note');
          const answer = changes.hasChangedSince(`wh_${webhook}`, heard[at]!);
          if (later.some((one) => one.webhook === undefined || one.webhook === webhook)) return !answer;
          return later.length === 0 && answer;
        });
      });
      expect(wrong).toEqual([]);
    }),
  );
});

test('a change of one webhook is none of another, as long as there are not very many', () => {
  const changes = createLaneChanges(2);
  const heard = changes.heard();
  changes.note('wh_1');
  changes.note('wh_2');
  expect(['wh_1', 'wh_2', 'wh_3'].map((id) => changes.hasChangedSince(id, heard))).toEqual([true, true, false]);
  changes.note('wh_4');
  expect(['wh_1', 'wh_3'].map((id) => changes.hasChangedSince(id, heard))).toEqual([true, true]);
  expect(changes.hasChangedSince('wh_3', heard + 1)).toBe(false);
});

test('a change is not forgotten where the webhook had changed before, and many have since', () => {
  const changes = createLaneChanges(2);
  for (const id of ['wh_1', 'wh_2']) changes.note(id);
  const heard = changes.heard();
  for (const id of ['wh_1', 'wh_3', 'wh_4', 'wh_5']) {
    changes.note(id);
    expect(changes.hasChangedSince('wh_1', heard)).toBe(true);
  }
});
