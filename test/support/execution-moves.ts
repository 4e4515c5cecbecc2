import { oneOf, some, statementCut, which } from './model-harness.ts';
import { fc } from './properties.ts';
import type { StatementCut } from './statement-cutter.ts';

/** What becomes of one run of a step. */
export interface StepOutcome {
  which: number;
  kind: 'done' | 'fails' | 'exits' | 'delays' | 'suspends' | 'reruns' | 'retries';
  emits: boolean;
  /** The step before it ran as well, and is stored with it. */
  isSecond: boolean;
  /** How long the execution waits, where it does. */
  ms: number;
}

/** `which` and `some` choose among those there are. */
export type ExecutionMove = { node: number; cut: StatementCut | undefined } & (
  | { kind: 'accept'; workflow: number; rows: boolean[] }
  | { kind: 'work'; which: number; limit: number }
  | { kind: 'run'; steps: StepOutcome[] }
  | { kind: 'resume'; which: number; isStale: boolean }
  | { kind: 'cancel' | 'retry' | 'activate' | 'deactivate'; which: number }
  | { kind: 'replay'; which: number; from: 'start' | 'failed' }
  | { kind: 'give-back'; some: number }
  | { kind: 'try-again' | 'pass' | 'requeue' | 'give-back-unheld' | 'crash' | 'silence' | 'declare-dead' }
  | { kind: 'recover' | 'beat' | 'stop' | 'delete' }
);

export const EXECUTION_NODES = 2;
/** The last of the workflows may be deleted. */
export const WORKFLOWS = 3;
/** Longer than any pause of the product. */
export const PASS_MS = 60_000;

const base = { node: fc.nat({ max: EXECUTION_NODES - 1 }), cut: statementCut(9, 2) };
const weigh = (weight: number, arbitrary: fc.Arbitrary<ExecutionMove>) => ({ weight, arbitrary });
const step = fc.record({
  which,
  kind: oneOf('done', 'done', 'fails', 'exits', 'delays', 'suspends', 'reruns', 'retries'),
  emits: fc.boolean(),
  isSecond: fc.boolean(),
  ms: fc.constantFrom(0, 0, PASS_MS / 2),
});

const oneMove: fc.Arbitrary<ExecutionMove> = fc.oneof(
  weigh(
    9,
    fc.record({
      ...base,
      kind: oneOf('accept'),
      workflow: fc.nat({ max: WORKFLOWS - 1 }),
      rows: fc.array(fc.boolean(), { minLength: 1, maxLength: 5 }),
    }),
  ),
  weigh(12, fc.record({ ...base, kind: oneOf('work'), which, limit: fc.integer({ min: 1, max: 4 }) })),
  weigh(18, fc.record({ ...base, kind: oneOf('run'), steps: fc.array(step, { minLength: 1, maxLength: 5 }) })),
  weigh(5, fc.record({ ...base, kind: oneOf('try-again') })),
  weigh(6, fc.record({ ...base, kind: oneOf('resume'), which, isStale: fc.boolean() })),
  weigh(3, fc.record({ ...base, kind: oneOf('cancel', 'retry'), which })),
  weigh(4, fc.record({ ...base, kind: oneOf('replay'), which, from: oneOf('start', 'failed', 'failed') })),
  weigh(1, fc.record({ ...base, kind: oneOf('activate', 'deactivate'), which })),
  weigh(1, fc.record({ ...base, kind: oneOf('give-back'), some })),
  weigh(
    8,
    fc.record({
      ...base,
      kind: oneOf(
        'pass',
        'pass',
        'pass',
        'requeue',
        'give-back-unheld',
        'crash',
        'silence',
        'declare-dead',
        'declare-dead',
        'declare-dead',
        'recover',
        'beat',
        'stop',
      ),
    }),
  ),
  // Seldom: what it ends takes part in no move any more.
  weigh(1, fc.record({ ...base, kind: oneOf('requeue', 'requeue', 'delete') })),
);

const lostAnswer = fc.constant({ at: 'commit' as const, when: 'answered' as const });

/**
 * A node whose commit is lost, or has lost its answer, gets the same execution once more before it tries again: after it was
 * declared dead and does not know it yet, or after a wait. Moves that are chosen one by one seldom come to that.
 */
const heldAgain = fc
  .record({ ...base, cut: lostAnswer, isDead: fc.boolean(), isLost: fc.boolean(), some: step, which, third: which })
  .map(({ node, cut, isDead, isLost, some: one, ...picks }): ExecutionMove[] => {
    const move = { node, cut: undefined };
    const work = (at: number): ExecutionMove => ({ ...move, kind: 'work', which: at, limit: 4 });
    const kind = isDead ? one.kind : ('reruns' as const);
    return [
      { ...move, kind: 'run', steps: [{ ...one, kind, ms: 0 }], cut: isLost ? { at: 1, when: 'before' } : cut },
      { ...move, kind: isDead ? 'declare-dead' : 'pass' },
      work(picks.which),
      work(picks.third),
      { ...move, kind: 'try-again' },
    ];
  });

/** The moves of one history. */
export const executionMoves: fc.Arbitrary<ExecutionMove[]> = fc
  .array(fc.oneof({ weight: 20, arbitrary: oneMove.map((one) => [one]) }, { weight: 2, arbitrary: heldAgain }), {
    minLength: 25,
    maxLength: 45,
  })
  .map((all) => all.flat());
