import { expect, test } from 'vitest';
import { FairCache, type FairCacheBounds } from '../../../engine/src/fairness/fair-cache.ts';
import { fc } from '../../support/properties.ts';
import { slowness } from '../../support/longest-turn.ts';

const KEYS = Array.from('abcdefgh');
const VALUES = [{ name: 'first' }, { name: 'second' }] as const;
type Value = (typeof VALUES)[number];
type Cache = FairCache<string, Value>;

interface Held {
  accountId: string;
  key: string;
  value: Value;
  weight: number;
}

/**
 * Operation on a cache, and its effect on the model: a list of entries in the order of last use,
 * without limits.
 */
interface Operation {
  name: string;
  act: (cache: Cache) => void;
  list: (held: readonly Held[]) => Held[];
}

const except = (held: readonly Held[], key: string) => held.filter((entry) => entry.key !== key);

const key = fc.constantFrom(...KEYS);
const value = fc.constantFrom(...VALUES);
const accountId = fc.constantFrom('o_1', 'o_2', 'o_3', 'o_4');
// Some are more than everything may weigh.
const weight = fc.oneof({ weight: 15, arbitrary: fc.nat(9) }, { weight: 1, arbitrary: fc.constant(25) });

const set = fc.record({ accountId, key, value, weight }).map(
  (entry): Operation => ({
    name: `set ${JSON.stringify(entry)}`,
    act: (cache) => cache.set(entry.accountId, entry.key, entry.value, entry.weight),
    list: (held) => [...except(held, entry.key), entry],
  }),
);
const get = key.map(
  (name): Operation => ({
    name: `get ${name}`,
    act: (cache) => cache.get(name),
    list: (held) => [...except(held, name), ...held.filter((entry) => entry.key === name)],
  }),
);
const weigh = fc.record({ key, value, weight }).map(
  (entry): Operation => ({
    name: `weigh ${JSON.stringify(entry)}`,
    act: (cache) => cache.weigh(entry.key, entry.value, entry.weight),
    list: (held) =>
      held.map((one) => (one.key === entry.key && one.value === entry.value ? { ...one, ...entry } : one)),
  }),
);
const remove = fc.tuple(key, fc.option(value, { nil: undefined })).map(
  ([name, given]): Operation => ({
    name: `delete ${name} ${given?.name}`,
    act: (cache) => cache.delete(name, given),
    list: (held) => held.filter((entry) => entry.key !== name || (given !== undefined && entry.value !== given)),
  }),
);
const removeAccount = accountId.map(
  (id): Operation => ({
    name: `deleteAccount ${id}`,
    act: (cache) => cache.deleteAccount(id),
    list: (held) => held.filter((entry) => entry.accountId !== id),
  }),
);
const clear = fc.constant<Operation>({ name: 'clear', act: (cache) => cache.clear(), list: () => [] });

const operations = fc.array(
  fc.oneof(
    { weight: 24, arbitrary: set },
    { weight: 10, arbitrary: get },
    { weight: 6, arbitrary: weigh },
    { weight: 3, arbitrary: remove },
    { weight: 1, arbitrary: removeAccount },
    { weight: 1, arbitrary: clear },
  ),
  { maxLength: 40, size: 'max' },
);

const bounds = fc.record({
  maxWeight: fc.constantFrom(20, 21),
  maxCount: fc.constantFrom(4, 5, Number.POSITIVE_INFINITY),
  keepsNewest: fc.boolean(),
});

/** More than the bounds, or than a half of one of them. */
function isMore({ maxWeight, maxCount }: Required<FairCacheBounds>, held: readonly Held[], part = 1): boolean {
  return held.length > maxCount * part || held.reduce((sum, entry) => sum + entry.weight, 0) > maxWeight * part;
}

/** Contents of a new cache after these operations. It is new, because `get` counts as a use. */
function contentsAfter(done: readonly Operation[], limits: FairCacheBounds): Map<string, Value> {
  const cache: Cache = new FairCache(limits);
  for (const { act } of done) act(cache);
  const found = KEYS.map((name): [string, Value | undefined] => [name, cache.get(name)]);
  return new Map(found.filter((pair): pair is [string, Value] => pair[1] !== undefined));
}

/**
 * `wanted`: what would be there if there were room, in the order of its last use; `kept`: what of
 * that is there.
 */
type Rule = (limits: Required<FairCacheBounds>, wanted: readonly Held[], kept: readonly Held[]) => boolean;

/** Throws where there is a step after which it does not hold. */
function assertAtEachStep(rule: Rule): void {
  const property = fc.property(operations, bounds, (done, limits) => {
    let kept: Held[] = [];
    return done.every(({ list }, i) => {
      const wanted = list(kept);
      const contents = contentsAfter(done.slice(0, i + 1), limits);
      kept = wanted.filter((entry) => contents.get(entry.key) === entry.value);
      return contents.size === kept.length && rule(limits, wanted, kept);
    });
  });
  fc.assert(property, { numRuns: 1_000 });
}

const lost = (wanted: readonly Held[], kept: readonly Held[]) => wanted.filter((entry) => !kept.includes(entry));
const of = (id: string, held: readonly Held[]) => held.filter((entry) => entry.accountId === id);

test('the cache never exceeds its bound, except for a single newest entry', () => {
  const rule: Rule = (limits, wanted, kept) =>
    !isMore(limits, kept) || (limits.keepsNewest && kept.length === 1 && kept[0] === wanted.at(-1));
  expect(() => assertAtEachStep(rule)).not.toThrow();
});

test('nothing is given up for which there is room', () => {
  const rule: Rule = (limits, wanted, kept) => {
    const gone = lost(wanted, kept);
    return gone.length === 0 || gone.some((entry) => isMore(limits, [...kept, entry]));
  };
  expect(() => assertAtEachStep(rule)).not.toThrow();
});

test('an account with no more than half loses nothing while another has more and could give up an entry', () => {
  const rule: Rule = (limits, wanted, kept) => {
    const isLarge = ({ accountId: id }: Held, held: readonly Held[]) => isMore(limits, of(id, held), 0.5);
    if (lost(wanted, kept).every((entry) => isLarge(entry, wanted))) return true;
    const given = limits.keepsNewest ? kept.filter((entry) => entry !== wanted.at(-1)) : kept;
    return !given.some((entry) => isLarge(entry, kept));
  };
  expect(() => assertAtEachStep(rule)).not.toThrow();
});

test('the entries used last stay: of the account itself, or of all accounts if it has no more than half', () => {
  const rule: Rule = (limits, wanted, kept) =>
    lost(wanted, kept).every((gone) => {
      const isLarge = isMore(limits, of(gone.accountId, wanted), 0.5);
      const others = isLarge ? of(gone.accountId, kept) : kept;
      return others.every((entry) => wanted.indexOf(entry) > wanted.indexOf(gone));
    });
  expect(() => assertAtEachStep(rule)).not.toThrow();
});

test('the newest stays where it is to be kept in any case', () => {
  const cache: Cache = new FairCache({ maxWeight: 20, keepsNewest: true });
  cache.set('o_1', 'a', VALUES[0], 5);
  cache.set('o_2', 'b', VALUES[0], 5);
  cache.set('o_2', 'c', VALUES[1], 50);
  expect(['a', 'b', 'c'].map((name) => cache.get(name))).toEqual([undefined, undefined, VALUES[1]]);
});

test('a hundred thousand entries take their turns without a search for each', () => {
  const cache = new FairCache<string, number>({ maxWeight: 100_000 });
  for (let i = 0; i < 40_000; i++) cache.set(`o_${i}`, `small ${i}`, i, 1);
  const began = process.threadCpuUsage();
  for (let i = 0; i < 200_000; i++) cache.set('o_large', `large ${i}`, i, 1);
  for (let i = 0; i < 40_000; i++) cache.set(`o_other_${i}`, `other ${i}`, i, 1);
  // With a search it is minutes, also of processor time.
  expect(process.threadCpuUsage(began).user / 1_000 / slowness()).toBeLessThan(3_000);
  expect(['small 0', 'other 0', 'large 199999', 'large 0'].map((name) => cache.get(name))).toEqual([
    undefined,
    0,
    199_999,
    undefined,
  ]);
});
