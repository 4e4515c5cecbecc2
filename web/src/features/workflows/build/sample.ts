import { queryOptions, useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { api, type Schemas } from '../../../api/client.ts';
import { executionsQuery } from '../workflow-queries.ts';

export type TestedStep = Schemas['WorkflowTest']['steps'][number];

/**
 * The event that tests run with, and what past steps came to: the values that expressions can be
 * made of.
 */
export interface Sample {
  /** `exec_…`, or the `emit_id` of an event; absent where the event was written by hand. */
  eventId?: string;
  event: unknown;
  context?: unknown;
  /** Values of `steps.<namespace>`. */
  steps: Readonly<Record<string, unknown>>;
  isPending: boolean;
  error: unknown;
}

export interface SampleChoice {
  id: string;
  label: string;
  atMs: number;
}

export interface Samples {
  executions: readonly SampleChoice[];
  events: readonly SampleChoice[];
  sample: Sample;
}

const SHOWN = 20;

/** Values that later steps see of a step: its exports and its return value. */
export function visibleExports({
  exports,
  $return_value: value,
}: Pick<TestedStep, 'exports' | '$return_value'>): unknown {
  return { ...(value === undefined ? {} : { $return_value: value }), ...(typeof exports === 'object' ? exports : {}) };
}

/** Values are not cut: a path may lead anywhere. */
const wholeExecution = (id: string) =>
  queryOptions({
    queryKey: ['execution', id, 'whole'],
    queryFn: ({ signal }) =>
      api.get('/v1/executions/{id}', { path: { id }, query: { expand: 'exports' }, signal }).then(({ data }) => data),
  });

/**
 * `chosen`: `exec_…`, `dc_…-…`, or `none` for a hand-written event; absent: the newest execution,
 * if there is one.
 */
export function useSamples(options: {
  workflowId: string | undefined;
  sourceIds: readonly string[];
  chosen: string | undefined;
  written: unknown;
}): Samples {
  const { workflowId, sourceIds, chosen, written } = options;
  const [sourceId] = sourceIds;
  const past = useInfiniteQuery({ ...executionsQuery(workflowId ?? '', {}), enabled: workflowId !== undefined });
  const emitted = useQuery({
    queryKey: ['sample-events', sourceId],
    enabled: sourceId !== undefined,
    queryFn: ({ signal }) =>
      api.get('/v1/sources/{id}/event_summaries', {
        path: { id: sourceId ?? '' },
        query: { limit: SHOWN, expand: 'event' },
        signal,
      }),
  });
  const executions = (past.data?.pages[0]?.data ?? []).slice(0, SHOWN);
  const events = emitted.data?.data ?? [];
  const id = chosen ?? executions[0]?.id ?? events[0]?.metadata.emit_id ?? 'none';
  const execution = useQuery({ ...wholeExecution(id), enabled: id.startsWith('exec_') });
  const event = events.find(({ metadata }) => metadata.emit_id === id);
  return {
    executions: executions.map((one) => ({
      id: one.id,
      label: `Execution, ${one.status}`,
      atMs: one.started_at ?? Date.now(),
    })),
    events: events.map(({ metadata, indexed_at_ms: atMs }) => ({
      id: metadata.emit_id,
      label: `Event ${metadata.summary ?? ''}`.trim(),
      atMs,
    })),
    sample: sampleOf(),
  };

  function sampleOf(): Sample {
    if (event !== undefined) return { eventId: id, event: event.event, steps: {}, isPending: false, error: null };
    if (!id.startsWith('exec_')) return { event: written, steps: {}, isPending: false, error: emitted.error };
    const { data, error, isPending } = execution;
    if (data === undefined) return { eventId: id, event: undefined, steps: {}, isPending, error };
    const steps = Object.entries(data.steps).map(([namespace, step]) => [
      namespace,
      visibleExports({ exports: step.exports as TestedStep['exports'], $return_value: step.$return_value }),
    ]);
    const { event: data_, context } = data.trigger;
    return {
      eventId: id,
      event: data_,
      context,
      steps: Object.fromEntries(steps) as Sample['steps'],
      isPending: false,
      error: null,
    };
  }
}
