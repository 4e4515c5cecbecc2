import { oneOf, some, statementCut, which } from './model-harness.ts';
import { fc } from './properties.ts';
import type { StatementCut } from './statement-cutter.ts';

/** The outcome of one run of a step. */
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
  /** `goesOn`: the pauses of its other commits end at the same moment. */
  | { kind: 'run'; steps: StepOutcome[]; goesOn?: true }
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
const outcome = {
  which,
  emits: fc.boolean(),
  isSecond: fc.boolean(),
  ms: fc.constantFrom(0, PASS_MS / 2),
};
const step = fc.record({
  ...outcome,
  kind: oneOf('done', 'done', 'fails', 'exits', 'delays', 'suspends', 'reruns', 'retries'),
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

/**
 * A node gets an execution once more while it holds it: after it was declared dead and does not
 * know it yet, or after a wait. A commit of the first time waits to be tried again, or comes with
 * the next ones; a job that was done is done again, as its answer was lost. Moves that are chosen
 * one by one seldom come to that.
 */
const heldAgain = fc
  .record({
    ...base,
    step: fc.record({ ...outcome, kind: oneOf('exits', 'exits', 'done', 'reruns', 'suspends') }),
    lost: fc.constantFrom('before' as const, 'answered' as const, undefined),
    isDead: fc.boolean(),
    jobs: fc.tuple(which, which, which),
    isJobLost: fc.boolean(),
    isMet: fc.boolean(),
  })
  .map(({ node, lost, isDead, step: first, jobs, isJobLost, isMet }): ExecutionMove[] => {
    const move = { node, cut: undefined };
    const jobCut = isJobLost ? { at: 'commit' as const, when: 'answered' as const } : undefined;
    const works = jobs.map((job, at) => ({
      ...move,
      kind: 'work' as const,
      which: job,
      limit: 4,
      cut: at === 0 ? jobCut : undefined,
    }));
    const steps = Array.from({ length: 6 }, () => ({ ...first, which: 0, ms: 0 }));
    const begun = steps.map((one) => ({ ...one, kind: 'done' as const }));
    return [
      ...(lost === undefined
        ? []
        : [{ node, kind: 'run' as const, steps, cut: { at: 'commit' as const, when: lost } }]),
      { ...move, kind: isDead ? 'declare-dead' : 'pass' },
      ...works,
      ...(lost === undefined || isMet ? [{ ...move, kind: 'run' as const, steps: isMet ? begun : steps }] : []),
      ...(isMet ? [{ ...move, kind: 'run' as const, steps, goesOn: true as const }] : []),
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
