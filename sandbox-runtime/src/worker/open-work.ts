import type { OpenWork } from './process-run.ts';

/** Requests that are named; of more there is the number. */
const MAX_NAMED = 5;
const MAX_URL_CHARS = 200;

export function hasNoOpenWork({ requests, calls, timers, intervals }: OpenWork): boolean {
  return requests.length === 0 && calls === 0 && timers === 0 && intervals === 0;
}

/** A forgotten interval would keep its run open until its time limit. */
export function isIntervalsOnly({ requests, calls, timers }: OpenWork): boolean {
  return requests.length === 0 && calls === 0 && timers === 0;
}

/**
 * `Still running when the run ended: fetch GET https://a.example/b, 2 timers`. Query strings are
 * left out, because they may hold unknown secrets.
 */
export function describeOpenWork({ requests, calls, timers, intervals }: OpenWork): string {
  const named = requests
    .slice(0, MAX_NAMED)
    .map((request) => `fetch ${request.split('?', 1)[0]?.slice(0, MAX_URL_CHARS)}`);
  const more = requests.length - named.length;
  const parts = [...named, ...counted(more, 'more request'), ...counted(calls, 'call to the platform')];
  parts.push(...counted(timers, 'timer'), ...counted(intervals, 'interval'));
  return `Still running when the run ended: ${parts.length === 0 ? 'a callback' : parts.join(', ')}`;
}

function counted(count: number, what: string): string[] {
  return count === 0 ? [] : [`${count} ${what}${count === 1 ? '' : 's'}`];
}
