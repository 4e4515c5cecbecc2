import { type DedupeStrategy, type EmittedEvent, LIMITS } from '@headwater/shared';
import { slowness } from '../../support/longest-turn.ts';
import { fc } from '../../support/properties.ts';
import { describe, expect, it } from 'vitest';
import { type DedupeState, decideDedupe } from '../../../engine/src/runs/commit/dedupe.ts';
import { orderEvents } from '../../../engine/src/runs/commit/order-events.ts';

const eventOf = (id: string | number, ts?: number): EmittedEvent => ({
  data: JSON.stringify(id),
  id,
  emittedAtMs: 0,
  ...(ts === undefined ? {} : { ts }),
});

/** Runs batches one after the other; answers the ids that came through. */
function emitted(strategy: DedupeStrategy, batches: readonly (readonly EmittedEvent[])[]): (string | number)[] {
  let state: DedupeState | undefined;
  const ids: (string | number)[] = [];
  for (const batch of batches) {
    const decision = decideDedupe(strategy, state, orderEvents(batch));
    // As stored and read back.
    state = decision.state === undefined ? undefined : (JSON.parse(JSON.stringify(decision.state)) as DedupeState);
    ids.push(...decision.accepted.map((event) => event.id ?? ''));
  }
  return ids;
}

const smallId = fc.integer({ min: 0, max: 30 });
const batchesOf = <T>(id: fc.Arbitrary<T>) => fc.array(fc.array(id, { maxLength: 8 }), { maxLength: 12 });

describe('unique', () => {
  it('keeps ids as they are up to 256 bytes of JSON, and longer ones as 43 characters', () => {
    const ids = ['x'.repeat(254), 'x'.repeat(255), '中'.repeat(84), '中'.repeat(85), '\u0001'.repeat(43)];
    const { state } = decideDedupe(
      'unique',
      undefined,
      ids.map((id) => eventOf(id)),
    );
    const kept = state?.strategy === 'unique' ? state.ids : [];
    expect(kept.map((id, at) => (id === ids[at] ? 'as it is' : id.length))).toEqual([
      'as it is',
      43,
      'as it is',
      43,
      43,
    ]);
  });

  it('emits an id exactly when it is not among the last hundred new ones', () => {
    const wideId = fc.integer({ min: 0, max: 140 });
    const long = fc.array(fc.array(wideId, { maxLength: 60 }), { maxLength: 12 });
    fc.assert(
      fc.property(long, (batches) => {
        const model: number[] = [];
        const cache: number[] = [];
        for (const id of batches.flat()) {
          if (cache.includes(id)) continue;
          model.push(id);
          cache.push(id);
          if (cache.length > 100) cache.shift();
        }
        expect(
          emitted(
            'unique',
            batches.map((batch) => batch.map((id) => eventOf(id))),
          ),
        ).toEqual(model);
      }),
    );
  });

  it('forgets the oldest id first, not the one seen least recently', () => {
    const first = Array.from({ length: 100 }, (_, i) => eventOf(i));
    // 0 is seen again, which does not make it younger: the hundred-and-first id pushes it out.
    expect(emitted('unique', [first, [eventOf(0)], [eventOf(100)], [eventOf(0)]]).slice(100)).toEqual([100, 0]);
  });

  it('takes 1 and "1" for the same id', () => {
    expect(emitted('unique', [[eventOf(1)], [eventOf('1')]])).toEqual([1]);
  });
});

describe('the memory of unique', () => {
  const anyId = fc.oneof(
    fc.string({ maxLength: LIMITS.maxEventIdChars }),
    fc.string({ unit: 'binary', maxLength: LIMITS.maxEventIdChars }),
    fc.stringMatching(/^[\w-]{40,46}$/),
    fc.constantFrom(...['"', '\\', '\u0001', '漢', '\ud800', 'x'].map((char) => char.repeat(LIMITS.maxEventIdChars))),
  );
  // As ids were remembered before they were shortened.
  const wholeId = (id: string) => id.replaceAll('\0', '\uFFFD').toWellFormed();
  const uniqueBy = (ids: readonly string[]) => [...new Map(ids.map((id) => [wholeId(id), id])).values()];
  const hundred = fc.array(anyId, { maxLength: 100 }).map(uniqueBy);

  it('is at most 6 KB for any ids, and is known again', () => {
    fc.assert(
      fc.property(hundred, (ids) => {
        const { accepted, state } = decideDedupe(
          'unique',
          undefined,
          ids.map((id) => eventOf(id)),
        );
        expect(accepted).toHaveLength(ids.length);
        expect(Buffer.byteLength(JSON.stringify(state ?? null))).toBeLessThan(6_000);
        const again = decideDedupe(
          'unique',
          state,
          ids.map((id) => eventOf(id)),
        );
        expect(again.accepted).toEqual([]);
        expect(again.state).toBe(state);
      }),
    );
  });

  it('holds for ids that were remembered whole, in their order, and is then as short', () => {
    fc.assert(
      fc.property(hundred, hundred, fc.nat(100), (before, fresh, taken) => {
        const known = { strategy: 'unique', ids: before.map(wholeId) } as const;
        const given = [...fresh, ...before.slice(0, taken)];
        const model = [...known.ids];
        const expected = given.filter((id) => {
          if (model.includes(wholeId(id))) return false;
          model.push(wholeId(id));
          if (model.length > LIMITS.uniqueCacheSize) model.shift();
          return true;
        });
        const { accepted, state } = decideDedupe(
          'unique',
          { ...known, ids: [...known.ids] },
          given.map((id) => eventOf(id)),
        );
        expect(accepted.map(({ id }) => id)).toEqual(expected);
        expect(Buffer.byteLength(JSON.stringify(state ?? null))).toBeLessThan(6_000);
        expect(
          decideDedupe(
            'unique',
            state,
            model.map((id) => eventOf(id)),
          ).accepted,
        ).toEqual([]);
      }),
    );
  });

  it('is the same object where nothing is new, so that it is not stored again; so it is with the others', () => {
    const states: DedupeState[] = [
      { strategy: 'unique', ids: ['1', '2'] },
      { strategy: 'greatest', id: '2' },
      { strategy: 'last', id: '2' },
    ];
    for (const state of states) {
      expect(decideDedupe(state.strategy, state, [eventOf(1), eventOf(2)])).toEqual({ accepted: [], state });
      expect(decideDedupe(state.strategy, state, [eventOf(1), eventOf(2)]).state).toBe(state);
    }
  });
});

describe('greatest', () => {
  it('emits exactly the ids larger than every id before them', () => {
    fc.assert(
      fc.property(batchesOf(smallId), (batches) => {
        const ids = batches.flat();
        const model = ids.filter((id, i) => ids.slice(0, i).every((earlier) => earlier < id));
        expect(
          emitted(
            'greatest',
            batches.map((batch) => batch.map((id) => eventOf(id))),
          ),
        ).toEqual(model);
      }),
    );
  });

  it('tells ids apart that a double cannot', () => {
    const ids = ['9007199254740992', '9007199254740993', '9007199254740992'];
    expect(emitted('greatest', [ids.map((id) => eventOf(id))])).toEqual(ids.slice(0, 2));
  });
});

describe('greatest, of ids as sources have them,', () => {
  it('takes negative numbers, decimals, signs and spaces for the numbers that they are', () => {
    const ids = ['-5', '-4.5', '-4.50', '-5', '0', '-0', '0.1', '.25', '+0.3', ' 1 ', '1.0', '01', '1.', '2'];
    expect(emitted('greatest', [ids.map((id) => eventOf(id))])).toEqual([
      '-5',
      '-4.5',
      '0',
      '0.1',
      '.25',
      '+0.3',
      ' 1 ',
      '2',
    ]);
  });

  it('compares decimals exactly, however many digits they have', () => {
    const ids = ['1700000000.123456', '1700000000.123457', '9007199254740993.00000001', '9007199254740993.00000002'];
    expect(emitted('greatest', [[...ids, ...ids].map((id) => eventOf(id))])).toEqual(ids);
  });

  it('takes a number and its text for the same, also in other notations', () => {
    expect(emitted('greatest', [[eventOf(10), eventOf('10'), eventOf('0x0b'), eventOf('1e2'), eventOf(100)]])).toEqual([
      10,
      '0x0b',
      '1e2',
    ]);
  });

  it('emits exactly the decimals larger than every one before them', () => {
    const decimal = fc.tuple(fc.bigInt(-1_000n, 1_000n), fc.integer({ min: 0, max: 3 }));
    const textOf = ([digits, places]: [bigint, number]) => {
      const text = String(digits < 0n ? -digits : digits).padStart(places + 1, '0');
      const at = text.length - places;
      return `${digits < 0n ? '-' : ''}${text.slice(0, at)}${places > 0 ? `.${text.slice(at)}` : ''}`;
    };
    fc.assert(
      fc.property(fc.array(decimal, { maxLength: 20 }), (decimals) => {
        const valueOf = ([digits, places]: [bigint, number]) => digits * 10n ** BigInt(3 - places);
        const model = decimals.filter((one, i) =>
          decimals.slice(0, i).every((before) => valueOf(before) < valueOf(one)),
        );
        const ids = decimals.map(textOf);
        expect(emitted('greatest', [ids.map((id) => eventOf(id))])).toEqual(model.map(textOf));
      }),
    );
  });
});

describe('an id that Postgres cannot keep in JSON', () => {
  it.each(['unique', 'last'] as const)('is remembered as it is shown, with %s', (strategy) => {
    const ids = ['a\0', '\ud800', 'b'];
    const events = ids.map((id) => eventOf(id));
    const { state } = decideDedupe(strategy, undefined, events);
    expect(JSON.stringify(state)).not.toMatch(/\\u0000|\\ud800/);
    expect(decideDedupe(strategy, state, events).accepted).toEqual([]);
  });
});

describe('last', () => {
  it('emits the ids after the remembered one, or all of them if it is absent', () => {
    fc.assert(
      fc.property(batchesOf(smallId), (batches) => {
        const model: number[] = [];
        let remembered: number | undefined;
        for (const batch of batches) {
          const fresh = remembered === undefined ? batch : batch.slice(batch.lastIndexOf(remembered) + 1);
          model.push(...fresh);
          remembered = fresh.at(-1) ?? remembered;
        }
        expect(
          emitted(
            'last',
            batches.map((batch) => batch.map((id) => eventOf(id))),
          ),
        ).toEqual(model);
      }),
    );
  });

  it('remembers the event with the newest ts in each order of emits', () => {
    const newestFirst = [eventOf('c', 30), eventOf('b', 20), eventOf('a', 10)];
    expect(emitted('last', [newestFirst, [eventOf('d', 40), ...newestFirst]])).toEqual(['a', 'b', 'c', 'd']);
  });
});

it('greatest takes no time to see that an id of 511 digits and a letter is no number', () => {
  const id = `${'1'.repeat(511)}x`;
  const before = process.threadCpuUsage();
  decideDedupe(
    'greatest',
    { strategy: 'greatest', id },
    Array.from({ length: 10_000 }, () => eventOf(id)),
  );
  const { user } = process.threadCpuUsage(before);
  // Seconds, where the digits may be divided in as many ways as there are.
  expect(user / 1_000).toBeLessThan(300 * slowness());
});

describe('order', () => {
  it('is oldest to newest by ts, and the order of emission where ts says nothing', () => {
    const event = fc.record({ ts: fc.option(fc.integer({ min: 0, max: 5 }), { nil: undefined }) });
    fc.assert(
      fc.property(fc.array(event, { maxLength: 20 }), (list) => {
        const events = list.map(({ ts }, i) => ({ ...eventOf(i, ts), emittedAtMs: 3 }));
        const ordered = orderEvents(events);
        const moments = ordered.map((e) => e.ts ?? 3);
        expect(moments).toEqual(moments.toSorted((a, b) => a - b));
        for (const sameMoment of Map.groupBy(ordered, (e) => e.ts ?? 3).values()) {
          const ids = sameMoment.map((e) => Number(e.id));
          expect(ids).toEqual(ids.toSorted((a, b) => a - b));
        }
        expect(new Set(ordered)).toEqual(new Set(events));
      }),
    );
  });
});
