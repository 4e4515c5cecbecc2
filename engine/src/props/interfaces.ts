import type { PropDefinition } from '@headwater/shared';
import { timerOf, type TimerSchedule } from '../schedule/index.ts';

export interface HttpProp {
  name: string;
  customResponse: boolean;
}

export interface TimerProp {
  name: string;
  schedule: TimerSchedule;
}

/** Interfaces of a source: an endpoint for each HTTP prop, a schedule for each timer prop. */
export interface Interfaces {
  httpProps: readonly HttpProp[];
  timers: readonly TimerProp[];
}

export function interfacesOf(
  definitions: readonly PropDefinition[],
  configured: Readonly<Record<string, unknown>>,
): Interfaces {
  return { httpProps: httpPropsOf(definitions), timers: timerPropsOf(definitions, configured) };
}

export function httpPropsOf(definitions: readonly PropDefinition[]): HttpProp[] {
  return definitions
    .filter((definition) => definition.type === '$.interface.http')
    .map((definition) => ({ name: definition.name, customResponse: definition.customResponse === true }));
}

function timerPropsOf(
  definitions: readonly PropDefinition[],
  configured: Readonly<Record<string, unknown>>,
): TimerProp[] {
  return definitions
    .filter((definition) => definition.type === '$.interface.timer' && configured[definition.name] !== undefined)
    .map((definition) => ({ name: definition.name, schedule: timerOf(configured[definition.name]) }));
}
