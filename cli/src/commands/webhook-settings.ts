import { usageError } from '../cli-error.ts';
import type { OptionSpec } from '../command.ts';
import type { CommandContext } from '../context.ts';

/** Options for a webhook's requests, shared by the commands that make or change one. */
export const REQUEST_OPTIONS: readonly OptionSpec[] = [
  {
    name: 'header',
    value: 'name: value',
    summary: 'A header that its requests carry; the ones given replace those of before. Stored encrypted.',
    repeatable: true,
  },
  {
    name: 'retry-schedule',
    value: 'seconds',
    summary:
      'The waits after failed attempts, separated by commas; `none`: one attempt; `default`: as the server does it.',
  },
  {
    name: 'disable-after',
    value: 'hours',
    summary: 'How long it may fail before it is disabled; `never`; `default`: as the server does it.',
  },
  {
    name: 'disable-failures-over',
    value: 'hours',
    summary: 'How long its failures must go on for that; `default`: as the server does it.',
  },
  {
    name: 'ordering',
    value: 'ordering',
    summary: '`fifo`: the next delivery once the one before has succeeded, is exhausted or was skipped.',
    choices: ['none', 'fifo'],
  },
  {
    name: 'ordering-key',
    value: 'path',
    summary: 'Only deliveries with the same value at this path in the event wait for each other; `none`: all do.',
  },
  { name: 'rate', value: 'number', summary: 'Attempts a second; `default`: as the account may.' },
  { name: 'max-in-flight', value: 'number', summary: 'Attempts at the same time; `default`: as the account may.' },
  {
    name: 'adaptive-rate',
    value: 'on|off',
    summary: '`on`: fewer attempts a second while the receiver cannot follow, more as it heals.',
    choices: ['on', 'off'],
  },
  { name: 'timeout', value: 'seconds', summary: 'For one attempt; `default`: as the server does it.' },
];

/** Fields of the API; JSON omits the undefined ones. */
export function requestSettingsOf(input: CommandContext['input']) {
  const headers = input.list('header').map(headerOf);
  return {
    headers: headers.length === 0 ? undefined : Object.fromEntries(headers),
    retry_schedule_seconds: scheduleOf(input.text('retry-schedule')),
    timeout_seconds: secondsOf('timeout', input.text('timeout')),
    disable_after_hours: hoursOf(input.text('disable-after')),
    disable_failures_over_hours: numberOf('disable-failures-over', input.text('disable-failures-over')),
    ordering: input.text('ordering'),
    ordering_key: input.text('ordering-key') === 'none' ? null : input.text('ordering-key'),
    rate_per_second: numberOf('rate', input.text('rate')),
    max_in_flight: numberOf('max-in-flight', input.text('max-in-flight')),
    adaptive_rate: isOn(input.text('adaptive-rate')),
  };
}

const isOn = (text: string | undefined) => (text === undefined ? undefined : text === 'on');

function hoursOf(text: string | undefined): number | null | undefined {
  if (text === undefined) return undefined;
  if (text === 'default') return null;
  if (text === 'never') return 0;
  if (!/^\d{1,5}$/.test(text)) throw usageError(`--disable-after ${text} is not a number of hours`);
  return Number(text);
}

function numberOf(option: string, text: string | undefined): number | null | undefined {
  if (text === undefined) return undefined;
  if (text === 'default') return null;
  if (!/^\d{1,9}$/.test(text)) throw usageError(`--${option} ${text} is not a number`);
  return Number(text);
}

function headerOf(line: string): [string, string] {
  const colon = line.indexOf(':');
  if (colon <= 0) throw usageError(`--header ${line} is not of the form name: value`);
  return [line.slice(0, colon).trim(), line.slice(colon + 1).trim()];
}

function scheduleOf(text: string | undefined): number[] | null | undefined {
  if (text === undefined) return undefined;
  if (text === 'default') return null;
  if (text === 'none') return [];
  return text.split(',').map((seconds) => Number(secondsOf('retry-schedule', seconds.trim())));
}

function secondsOf(option: string, text: string | undefined): number | null | undefined {
  if (text === undefined) return undefined;
  if (text === 'default') return null;
  if (!/^\d{1,9}$/.test(text)) throw usageError(`--${option} ${text} is not a number of seconds`);
  return Number(text);
}
