import { notesOf, type NumberDedupe, numbersOf, waitsMsOf } from './expected.ts';
import type { Random } from './random.ts';
import type { Target } from './records.ts';

interface Content {
  id: string;
  turn: number;
  body: Record<string, unknown>;
}

const REPEATED_IDS = 0.05;
/**
 * A repeated id has fewer events than this after it: far less than what `dedupe: unique` remembers.
 */
const REPEATS_WITHIN_EVENTS = 30;
const REPEATED_TURNS = 0.1;
const REPEATS_WITHIN_TURNS = 3;
/**
 * Shares of the runs that take longer, up to so long: kills find them under way, some more than
 * once.
 */
const LONGER_RUNS = [
  { share: 0.003, maxMs: 8_000 },
  { share: 0.1, maxMs: 400 },
] as const;

/** Draws for each request whether it repeats an earlier one, and how long its run takes. */
export function createContents(
  tenants: number,
  emits: number,
  random: Random,
): { next(to: Target, tenant: number, request: number): Content } {
  const recentIds: string[][] = Array.from({ length: tenants }, () => []);
  const turns = Array.from({ length: tenants }, () => ({ greatest: 0, last: 0 }));
  const repeatsWithin = Math.max(1, Math.floor(REPEATS_WITHIN_EVENTS / emits));

  function chooseId(tenant: number, request: number): string {
    const recent = recentIds[tenant] as string[];
    const repeated = random.next() < REPEATED_IDS ? random.pick(recent) : undefined;
    const id = repeated ?? `id-${request}`;
    recent.push(id);
    if (recent.length > repeatsWithin) recent.shift();
    return id;
  }

  function chooseTurn(tenant: number, dedupe: NumberDedupe): number {
    const ofTenant = turns[tenant] as Record<NumberDedupe, number>;
    if (random.next() >= REPEATED_TURNS) return ++ofTenant[dedupe];
    return Math.max(1, ofTenant[dedupe] - Math.floor(random.next() * REPEATS_WITHIN_TURNS));
  }

  function chooseTimeMs(): number {
    const longer = LONGER_RUNS.find(({ share }) => random.next() < share);
    return Math.round(random.between(0, longer?.maxMs ?? 0));
  }

  return {
    next(to, tenant, request) {
      const id = to === 'source' ? chooseId(tenant, request) : `id-${request}`;
      const turn = to === 'greatest' || to === 'last' ? chooseTurn(tenant, to) : 0;
      const common = { id, request, takesMs: chooseTimeMs() };
      switch (to) {
        case 'source':
          return { id, turn, body: { ...common, emits } };
        case 'notes':
          return { id, turn, body: { ...common, notes: notesOf(request) } };
        case 'greatest':
        case 'last':
          return { id, turn, body: { ...common, turn, numbers: numbersOf(to, turn) } };
        case 'asked':
        case 'workflow':
          return { id, turn, body: common };
        case 'waits':
          return { id, turn, body: { ...common, waitsMs: waitsMsOf(request) } };
      }
    },
  };
}
