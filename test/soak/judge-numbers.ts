import { type NumberDedupe, numbersOf } from './expected.ts';
import { type Promised, repeated } from './promised.ts';
import type { EventRow, Outcome, SentRequest } from './records.ts';

/** The events of one run. Runs that have emitted nothing leave none. */
interface RunOutput {
  invocationId: string | null;
  request: number;
  turn: number;
  numbers: number[];
}

/**
 * Commits of one source follow each other, so the rule of its dedupe says exactly what each run may
 * emit, given the runs before it.
 */
export function judgeNumbers({ requests, tenants }: Outcome): Promised[] {
  const runs = (dedupe: NumberDedupe) => tenants.map(({ numbers }) => runsOf(numbers[dedupe]));
  const sentTo = (dedupe: NumberDedupe, tenant: number) =>
    requests.filter((sent) => sent.to === dedupe && sent.tenant === tenant);
  const dedupes = ['greatest', 'last'] as const;
  return dedupes.flatMap((dedupe) => {
    const judged = runs(dedupe).map((ofTenant, i) => judgeRuns(dedupe, ofTenant, sentTo(dedupe, i)));
    return [
      { name: `dedupe ${dedupe}: runs that emitted other ids`, broken: judged.flatMap(({ odd }) => odd) },
      { name: `dedupe ${dedupe}: requests emitted twice`, broken: judged.flatMap(({ twice }) => twice) },
      { name: `dedupe ${dedupe}: ids dropped without reason`, broken: judged.flatMap(({ lost }) => lost) },
    ];
  });
}

function judgeRuns(dedupe: NumberDedupe, runs: readonly RunOutput[], sent: readonly SentRequest[]) {
  const bySent = new Map(sent.map((one) => [one.request, one]));
  const emitted = new Set(runs.map(({ request }) => request));
  const states = new Set<number>();
  let state: number | undefined;
  const odd = runs.filter((run) => {
    const expected = passing(dedupe, numbersOf(dedupe, run.turn), state);
    state = dedupe === 'greatest' ? Math.max(state ?? -Infinity, ...run.numbers) : run.numbers.at(-1);
    if (state !== undefined) states.add(state);
    return bySent.get(run.request)?.turn !== run.turn || String(run.numbers) !== String(expected);
  });
  // Dropped as a whole: then some state before or after drops all of it.
  const mayBeDropped = ({ turn }: SentRequest) => {
    const numbers = numbersOf(dedupe, turn);
    if (dedupe === 'greatest') return state !== undefined && Math.max(...numbers) <= state;
    return states.has(numbers.at(-1) ?? NaN);
  };
  const lost = sent.filter((one) => one.answer === 'accepted' && !emitted.has(one.request) && !mayBeDropped(one));
  return { odd, lost, twice: repeated(runs, ({ request }) => request) };
}

/** The rules as the documentation has them. */
function passing(dedupe: NumberDedupe, numbers: readonly number[], state: number | undefined): number[] {
  if (dedupe === 'last') return state === undefined ? [...numbers] : numbers.slice(numbers.indexOf(state) + 1);
  let largest = state ?? -Infinity;
  return numbers.filter((number) => {
    const passes = number > largest;
    largest = Math.max(largest, number);
    return passes;
  });
}

/** Neighbours of one run. Events of a run that lie apart become two, of which the second is odd. */
function runsOf(events: readonly EventRow[]): RunOutput[] {
  const runs: RunOutput[] = [];
  for (const { invocationId, data } of events) {
    const { request, turn, number } = JSON.parse(data) as { request: number; turn: number; number: number };
    const last = runs.at(-1);
    if (last?.invocationId === invocationId) last.numbers.push(number);
    else runs.push({ invocationId, request, turn, numbers: [number] });
  }
  return runs;
}
