import type { PropDefinition, RunProp } from '@headwater/shared';
import type { SecretValue } from '../secrets/redactor.ts';
import { SealError } from '../secrets/seal.ts';
import type { TimerSchedule } from '../schedule/next-tick.ts';

/** Opens sealed prop values and knows what an endpoint's URL looks like from outside. */
export interface PropOpener {
  open(accountId: string, sealed: string): string;
  endpointUrl(endpointKey: string): string;
}

export interface ConfiguredSource {
  accountId: string;
  definitions: readonly PropDefinition[];
  /** As stored: secrets are `{ "$sealed": "…" }`. */
  configured: Readonly<Record<string, unknown>>;
  /** Prop name → endpoint key. */
  endpoints: Readonly<Record<string, string>>;
}

export interface OpenedProps {
  props: Record<string, RunProp>;
  /** Names of props whose sealed value does not open with any key: it was changed, or is another account's. */
  unopened: string[];
}

/**
 * What each prop is worth in a run. Secrets are opened here, for runs alone. Throws SealError where one was sealed with a key
 * that this node does not have: another node may have it.
 */
export function openProps(opener: PropOpener, source: ConfiguredSource): OpenedProps {
  const props: Record<string, RunProp> = Object.create(null) as Record<string, RunProp>;
  const unopened: string[] = [];
  for (const definition of source.definitions) {
    try {
      const prop = openProp(opener, source, definition);
      if (prop !== undefined) props[definition.name] = prop;
    } catch (error) {
      if (!isUnopened(error)) throw error;
      unopened.push(definition.name);
    }
  }
  return { props, unopened };
}

/** Nothing but a new value helps. */
export function isUnopened(error: unknown): boolean {
  return error instanceof SealError && error.fault !== 'unknown-key';
}

function openProp(opener: PropOpener, source: ConfiguredSource, definition: PropDefinition): RunProp | undefined {
  const value = source.configured[definition.name];
  switch (definition.type) {
    case '$.interface.http':
      return { kind: 'http', endpoint: opener.endpointUrl(source.endpoints[definition.name] ?? '') };
    case '$.interface.timer':
      return { kind: 'timer', ...timerOf(value) };
    case '$.service.db':
      return { kind: 'db' };
    default:
      if (value === undefined) return undefined;
      return {
        kind: 'value',
        value: isSealed(value) ? JSON.parse(opener.open(source.accountId, value.$sealed)) : value,
      };
  }
}

/** Of opened props those that are stored sealed, whatever their definition says by now. */
export function secretsIn(
  configured: Readonly<Record<string, unknown>>,
  props: Readonly<Record<string, RunProp>>,
): SecretValue[] {
  return Object.entries(props).flatMap(([name, prop]) =>
    prop.kind === 'value' && isSealed(configured[name]) ? [{ name, value: prop.value }] : [],
  );
}

/** A timer's configured value, which validation has already accepted. */
export function timerOf(value: unknown): TimerSchedule {
  const { intervalSeconds, cron, timezone } = (value ?? {}) as TimerSchedule;
  if (cron !== undefined) return { cron, ...(timezone === undefined ? {} : { timezone }) };
  return intervalSeconds === undefined ? {} : { intervalSeconds };
}

export function isSealed(value: unknown): value is { $sealed: string } {
  return typeof value === 'object' && value !== null && typeof (value as { $sealed?: unknown }).$sealed === 'string';
}

/**
 * `configured_props` as the API shows them: secrets left out, an HTTP prop as `{ endpoint_url }`, a timer as
 * `{ cron, interval_seconds }`.
 */
export function publicProps(opener: PropOpener, source: ConfiguredSource): Record<string, unknown> {
  const shown: Record<string, unknown> = {};
  for (const definition of source.definitions) {
    const value = publicProp(opener, source, definition);
    if (value !== undefined) Object.defineProperty(shown, definition.name, { value, enumerable: true });
  }
  return shown;
}

function publicProp(opener: PropOpener, source: ConfiguredSource, definition: PropDefinition): unknown {
  const value = source.configured[definition.name];
  switch (definition.type) {
    case '$.interface.http':
      return { endpoint_url: opener.endpointUrl(source.endpoints[definition.name] ?? '') };
    case '$.interface.timer': {
      const { intervalSeconds, cron, timezone } = timerOf(value);
      return {
        cron: cron ?? null,
        interval_seconds: intervalSeconds ?? null,
        ...(timezone === undefined ? {} : { timezone }),
      };
    }
    case '$.service.db':
      return undefined;
    default:
      return isSealed(value) ? undefined : value;
  }
}
