import { expect, it } from 'vitest';
import { createDbOverlay } from '../../../engine/src/runs/db-overlay.ts';
import { fc } from '../../support/properties.ts';

it('a value that an overlapping run sets later wins in each order of ends', () => {
  const overlay = createDbOverlay();
  overlay.begin('dc_a');
  overlay.set('dc_a', 'n', '1', 'slow');
  overlay.begin('dc_a');
  expect(overlay.get('dc_a', 'n')).toBe('1');
  overlay.set('dc_a', 'n', '2', 'quick');
  expect(overlay.isSuperseded('dc_a', 'n', 'quick')).toBe(false);
  overlay.end('dc_a', 'quick');
  expect(overlay.isSuperseded('dc_a', 'n', 'slow')).toBe(true);
  // Committed: Postgres has it, and perhaps a newer one of another node.
  expect(overlay.get('dc_a', 'n')).toBeUndefined();
  overlay.end('dc_a', 'slow');
});

it('remembers nothing of a source that no run is in', () => {
  const overlay = createDbOverlay();
  overlay.begin('dc_a');
  overlay.set('dc_a', 'n', '1', 'one');
  overlay.end('dc_a', 'one');
  overlay.begin('dc_a');
  expect(overlay.get('dc_a', 'n')).toBeUndefined();
  expect(overlay.isSuperseded('dc_a', 'n', 'two')).toBe(false);
});

it('keeps sources apart', () => {
  const overlay = createDbOverlay();
  overlay.begin('dc_a');
  overlay.begin('dc_b');
  overlay.set('dc_a', 'n', '1', 'one');
  expect(overlay.get('dc_b', 'n')).toBeUndefined();
});

it('keeps no more keys than the runs under way have set, however long runs overlap', () => {
  const overlay = createDbOverlay();
  overlay.begin('dc_a');
  overlay.set('dc_a', 'long', '1', 'long');
  const keysOf = (run: number) => [`only ${run}`, `of two ${run}`, `of two ${run + 1}`, 'of all'];
  const allKeys = Array.from({ length: 500 }, (_, run) => keysOf(run)).flat();
  // A key without a kept value has the run 'nobody' as its last writer.
  const kept = () => new Set(['long', ...allKeys].filter((key) => overlay.isSuperseded('dc_a', key, 'nobody'))).size;
  const counts: number[] = [];
  for (let run = 0; run < 500; run++) {
    overlay.begin('dc_a');
    // Some twice, and some deleted.
    for (const key of [...keysOf(run), `only ${run}`]) overlay.set('dc_a', key, run % 2 === 0 ? '1' : '', `run ${run}`);
    if (run > 0) overlay.end('dc_a', `run ${run - 1}`);
    counts.push(kept());
  }
  expect(Math.max(...counts)).toBe(1 + keysOf(0).length);
  expect(overlay.get('dc_a', 'long')).toBe('1');
});

const KEYS = ['a', 'b'];

/** Reference model of the overlay: remembers every set of every run. */
function createModel() {
  const underWay = new Set<string>();
  const sets: { run: string; key: string; value: string }[] = [];
  const lastOf = (key: string) => sets.findLast((one) => one.key === key);
  return {
    underWay,
    set: (run: string, key: string, value: string) => void sets.push({ run, key, value }),
    get(key: string) {
      const last = lastOf(key);
      return last !== undefined && underWay.has(last.run) ? last.value : undefined;
    },
    settersOf: (key: string) => [...underWay].filter((run) => sets.some((one) => one.key === key && one.run === run)),
    isSuperseded: (key: string, run: string) => lastOf(key)?.run !== run,
  };
}

type Step = { kind: 'begin' } | { kind: 'end' | 'set'; place: number; key: string };

it('answers like a model that remembers each set, in any order of overlapping runs', () => {
  const step: fc.Arbitrary<Step> = fc.oneof(
    fc.constant({ kind: 'begin' as const }),
    fc.record({ kind: fc.constantFrom('end', 'set', 'set'), place: fc.nat(3), key: fc.constantFrom(...KEYS) }),
  );
  const check = (steps: readonly Step[]) => {
    const overlay = createDbOverlay();
    const model = createModel();
    for (const [at, given] of steps.entries()) {
      const run = given.kind === 'begin' ? `run ${at}` : [...model.underWay][given.place];
      if (run === undefined) continue;
      if (given.kind === 'begin') {
        model.underWay.add(run);
        overlay.begin('dc_a');
      } else if (given.kind === 'end') {
        model.underWay.delete(run);
        overlay.end('dc_a', run);
      } else {
        model.set(run, given.key, String(at));
        overlay.set('dc_a', given.key, String(at), run);
      }
      for (const key of KEYS) {
        expect(overlay.get('dc_a', key)).toBe(model.get(key));
        // Others never ask.
        for (const one of model.settersOf(key))
          expect(overlay.isSuperseded('dc_a', key, one)).toBe(model.isSuperseded(key, one));
      }
    }
  };
  fc.assert(fc.property(fc.array(step, { maxLength: 40, size: 'max' }), check), { numRuns: 300 });
});
