import { type Filter, type FilterAnswer, type FilterMeter, LIMITS, matchFilter, parseFilter } from '@headwater/shared';

/** Says what filters make of one event; each filter is looked at once for it. */
export type EventJudge = (filter: string) => FilterAnswer;

/** Filters that are kept taken apart: some kilobytes each. */
const MAX_KEPT_FILTERS = 2_000;
const kept = new Map<string, Filter>();

/**
 * `text`: JSON that was a filter when it was stored. Undefined where this version does not know an
 * operator in it.
 */
export function readFilter(text: string): Filter | undefined {
  const known = kept.get(text);
  if (known !== undefined) return known;
  const outcome = parseFilter(JSON.parse(text) as unknown);
  if (outcome.kind === 'fault') return undefined;
  if (kept.size >= MAX_KEPT_FILTERS) kept.clear();
  kept.set(text, outcome.filter);
  return outcome.filter;
}

/**
 * For the events of one commit: each account's filters share `maxFilterSteps`, so that no account
 * holds up the others' commits. An event is parsed once, when the first filter asks for it.
 */
export function createFilterJudges(): (accountId: string, data: string) => EventJudge {
  const leftBy = new Map<string, number>();
  return (accountId, data) => {
    const answers = new Map<string, FilterAnswer>();
    let parsed: { value: unknown } | undefined;
    return (filter) => {
      const known = answers.get(filter);
      if (known !== undefined) return known;
      const meter = { left: leftBy.get(accountId) ?? LIMITS.maxFilterSteps };
      // Not metered: the bytes of a commit have bounds, and other events must not decide this.
      parsed ??= { value: parseEvent(data) };
      const answer = meter.left < 0 ? 'too_costly' : judgeEvent(filter, parsed.value, data, meter);
      leftBy.set(accountId, meter.left);
      answers.set(filter, answer);
      return answer;
    };
  };
}

/** `value`: what parseEvent made of the data. */
function judgeEvent(filter: string, value: unknown, data: string, meter: FilterMeter): FilterAnswer {
  const read = readFilter(filter);
  if (read === undefined || data.length > LIMITS.maxFilteredEventChars) return 'too_costly';
  const own = { left: Math.min(meter.left, LIMITS.maxFilterStepsPerEvent) };
  const before = own.left;
  const answer = matchFilter(read, value, own);
  meter.left -= before - own.left;
  return answer;
}

/** Undefined, which few filters match, for data that are no JSON or too long. */
export function parseEvent(data: string): unknown {
  if (data.length > LIMITS.maxFilteredEventChars) return undefined;
  try {
    return JSON.parse(data) as unknown;
  } catch {
    return undefined;
  }
}
