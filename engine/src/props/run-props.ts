import type { PropDefinition, RunProp } from '@headwater/shared';
import { SealError, type SecretValue } from '../secrets/index.ts';
import { timerOf } from '../schedule/index.ts';
import { appSlugOf, dataStoreIdOf, provisionIdOf } from './prop-references.ts';

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

/**
 * The value of a prop, except that of an app: its `$auth` is fetched right before the run. Without
 * `provisionId` the app is used without an account.
 */
export type SourceProp = Exclude<RunProp, { kind: 'app' }> | { kind: 'app'; app: string; provisionId?: string };

export interface OpenedProps {
  props: Record<string, SourceProp>;
  /**
   * Names of props whose sealed value no key opens: it was changed, or belongs to another account.
   */
  unopened: string[];
}

/**
 * The value of each prop in a run. Opens secrets, so it is only for runs. Throws SealError if a
 * secret was sealed with a key that this node lacks; another node may have it.
 */
export function openProps(opener: PropOpener, source: ConfiguredSource): OpenedProps {
  const props: Record<string, SourceProp> = Object.create(null) as Record<string, SourceProp>;
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

function openProp(opener: PropOpener, source: ConfiguredSource, definition: PropDefinition): SourceProp | undefined {
  const stored = source.configured[definition.name];
  const value = isSealed(stored) ? (JSON.parse(opener.open(source.accountId, stored.$sealed)) as unknown) : stored;
  switch (definition.type) {
    case '$.interface.http':
      return { kind: 'http', endpoint: endpointOf(opener, source, definition) };
    case '$.interface.timer':
      return { kind: 'timer', ...timerOf(value) };
    case '$.service.db':
      return { kind: 'db' };
    case 'app': {
      // Without an account as well: its methods are there.
      const provisionId = provisionIdOf(value);
      return { kind: 'app', app: appSlugOf(definition), ...(provisionId === undefined ? {} : { provisionId }) };
    }
    case 'data_store': {
      const id = dataStoreIdOf(value);
      return id === undefined ? undefined : { kind: 'data-store', id };
    }
    case 'http_request':
      return value === undefined ? undefined : { kind: 'http-request', request: value };
    default:
      return value === undefined ? undefined : { kind: 'value', value };
  }
}

/** '' if there is none yet, as for a component that runs for its props before it is deployed. */
function endpointOf(opener: PropOpener, { endpoints }: ConfiguredSource, { name }: PropDefinition): string {
  const key = Object.hasOwn(endpoints, name) ? endpoints[name] : undefined;
  return key === undefined ? '' : opener.endpointUrl(key);
}

/** Opened props that are stored sealed, whatever their current definition says. */
export function secretsIn(
  configured: Readonly<Record<string, unknown>>,
  props: Readonly<Record<string, SourceProp>>,
): SecretValue[] {
  return Object.entries(props).flatMap(([name, prop]) => {
    if (!isSealed(configured[name])) return [];
    if (prop.kind === 'value') return [{ name, value: prop.value }];
    return prop.kind === 'http-request' ? [{ name, value: prop.request }] : [];
  });
}

export function isSealed(value: unknown): value is { $sealed: string } {
  return typeof value === 'object' && value !== null && typeof (value as { $sealed?: unknown }).$sealed === 'string';
}

/**
 * `configured_props` as the API shows them: secrets left out, an HTTP prop as `{ endpoint_url }`, a
 * timer as `{ cron, interval_seconds }`.
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
      return { endpoint_url: endpointOf(opener, source, definition) };
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
