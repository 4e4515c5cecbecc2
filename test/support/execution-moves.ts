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
  /** Duration of the execution's wait, if it waits. */
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
/** Seldom more are due at a time. */
const DUE_JOBS = 6;

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
  // Rare, because an ended execution takes part in no later move.
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

/** Runs the jobs that are due, one after the other: a job that is done is gone. */
const allJobs = (node: number): ExecutionMove[] =>
  Array.from({ length: DUE_JOBS }, () => ({ node, cut: undefined, kind: 'work', which: 0, limit: 4 }));

/**
 * A commit of a claim that has ended comes beside, or behind, what the same node did under its next
 * claim: the end of one must end nothing of the other, and two in one statement are not to write
 * for each other.
 */
const lateCommit = fc
  .record({
    ...base,
    kind: oneOf('exits', 'exits', 'fails', 'done', 'reruns'),
    emits: fc.boolean(),
    cut: fc.record({ at: fc.integer({ min: 1, max: 3 }), when: oneOf('before', 'before', 'answered') }),
    isMet: fc.boolean(),
  })
  .map(({ node, kind, emits, cut, isMet }): ExecutionMove[] => {
    const move = { node, cut: undefined };
    const stepsOf = (as: StepOutcome['kind']) =>
      Array.from({ length: 6 }, () => ({ kind: as, emits, isSecond: false, ms: 0, which: 0 }));
    return [
      // All that a run looks up is known then: the next one's first statements are of its commit.
      { ...move, kind: 'accept', workflow: 1, rows: [true] },
      { ...move, kind: 'run', steps: stepsOf('exits') },
      { ...move, kind: 'accept', workflow: 1, rows: [true] },
      { ...move, kind: 'run', steps: stepsOf(kind), cut },
      { ...move, kind: 'declare-dead' },
      ...allJobs(node),
      { ...move, kind: 'run', steps: stepsOf('done') },
      ...(isMet ? [{ ...move, kind: 'run' as const, steps: stepsOf('done'), goesOn: true as const }] : []),
      { ...move, kind: 'try-again' },
    ];
  });

/** The job that wakes an execution is done, and done again once a node has the execution. */
const wokenTwice = fc
  .record({ ...base, kind: oneOf('reruns', 'reruns', 'retries', 'delays'), lost: fc.nat({ max: DUE_JOBS - 1 }) })
  .map(({ node, kind, lost }): ExecutionMove[] => {
    const move = { node, cut: undefined };
    const steps = [{ kind, emits: false, isSecond: false, ms: 0, which: 0 }];
    const isLost = { at: 'commit' as const, when: 'answered' as const };
    return [
      { ...move, kind: 'accept', workflow: 1, rows: [true] },
      { ...move, kind: 'run', steps: steps.flatMap((one) => [one, one, one, one]) },
      { ...move, kind: 'pass' },
      ...allJobs(node).map((work, at) => (at === lost ? { ...work, cut: isLost } : work)),
      { ...move, kind: 'pass' },
      ...allJobs(node),
    ];
  });

/** The moves of one history. */
export const executionMoves: fc.Arbitrary<ExecutionMove[]> = fc
  .array(
    fc.oneof(
      { weight: 20, arbitrary: oneMove.map((one) => [one]) },
      { weight: 2, arbitrary: heldAgain },
      { weight: 1, arbitrary: lateCommit },
      { weight: 1, arbitrary: wokenTwice },
    ),
    { minLength: 25, maxLength: 45 },
  )
  .map((all) => all.flat());
