import { RUNS_OF_AGAIN, WAITING_STEPS } from './components.ts';
import { waitsMsOf } from './expected.ts';
import type { Promised } from './promised.ts';
import type { Outcome, StepCall } from './records.ts';

/** Executions that wait: for a time, to be run again, and for a resume that never comes. */
export function judgeWaits({ requests, executions, calls }: Outcome): Promised[] {
  const waiting = new Set(requests.filter(({ to }) => to === 'waits').map(({ request }) => request));
  const ended = new Set(executions.filter(({ status }) => status === 'succeeded').map(({ id }) => id));
  const ofWaits = calls.filter(({ request }) => waiting.has(request));
  const byExecution = [...Map.groupBy(ofWaits, ({ execution }) => execution)];
  return [
    { name: 'waits: cut short', broken: byExecution.flatMap(([, ofOne]) => cutShort(ofOne)) },
    {
      name: 'waits: steps not run again as often as they asked',
      broken: byExecution.filter(([id, ofOne]) => ended.has(id) && !hasAllRuns(ofOne)),
    },
  ];
}

/** In their order. The last run of `again` asks for no wait, and `end` neither. */
const RUNS = WAITING_STEPS.flatMap((step) => {
  const runs = step === 'again' ? RUNS_OF_AGAIN : 1;
  return Array.from({ length: runs }, (_, i) => ({ step, run: i + 1, waits: step !== 'again' || i + 1 < runs }));
});

/** Calls that began sooner after the first one of the run before than that run asked for. */
function cutShort(ofOne: readonly StepCall[]): StepCall[] {
  const firstOf = (i: number) => {
    const times = ofOne.filter(({ step, run }) => step === RUNS[i]?.step && run === RUNS[i]?.run);
    return times.toSorted((a, b) => a.begunAtMs - b.begunAtMs)[0];
  };
  return RUNS.flatMap((_, i) => {
    const [before, call] = [firstOf(i - 1), firstOf(i)];
    if (before === undefined || call === undefined || RUNS[i - 1]?.waits !== true) return [];
    return call.begunAtMs - before.begunAtMs < waitsMsOf(call.request) ? [call] : [];
  });
}

function hasAllRuns(ofOne: readonly StepCall[]): boolean {
  const runs = new Set(ofOne.filter(({ step }) => step === 'again').map(({ run }) => run));
  return runs.size === RUNS_OF_AGAIN && Array.from(runs).every((run) => run >= 1 && run <= RUNS_OF_AGAIN);
}
