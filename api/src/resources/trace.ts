import { z } from '@hono/zod-openapi';
import {
  DELIVERY_STATUSES,
  type TraceEvent,
  type TraceListener,
  type TraceRecord,
  type TraceRun,
} from '@headwater/engine';
import { createGiveWay, LIMITS } from '@headwater/shared';
import { RawJson } from '../raw-json.ts';
import { exceededLimitSchema } from './exceeded-limit.ts';
import { executionErrorSchema, logLineSchema, presentError, presentLines } from './execution.ts';

const moment = (description: string) =>
  z
    .int()
    .nullable()
    .openapi({ description: `${description} Epoch milliseconds.` });

const attemptSchema = z.object({
  at: z.string().describe('When it began, ISO 8601.'),
  status_code: z.int().optional().describe('The HTTP status of the answer. Absent: there was none.'),
  error: z.string().optional().describe('Why it failed, in words. Absent: it did not.'),
  limit: exceededLimitSchema.optional().describe('The limit that is the reason. Absent: none is.'),
  duration_ms: z.number().describe('How long it took, in milliseconds.'),
});

const listenerSchema = z.object({
  listener_id: z.string().openapi({ description: 'A webhook, source or workflow.' }),
  listener_name: z
    .string()
    .nullable()
    .openapi({
      description: `Of a webhook without a name, the first ${LIMITS.maxNameChars} characters of its URL.`,
    }),
  outcome: z.enum(['delivery', 'run', 'missed']).openapi({
    description: 'It is delivered to the webhook; the source or workflow runs for it; or it does not get it.',
  }),
  delivery: z
    .object({
      id: z.string().describe('The id of the delivery.'),
      status: z.enum(DELIVERY_STATUSES).describe('Where it stands.'),
      next_attempt_at: moment('Of one that is pending.'),
      attempts: z.array(attemptSchema).describe('The requests that were made, the first one first.'),
    })
    .optional()
    .describe('The delivery of `delivery`.'),
  run: z.unknown().optional().openapi({ description: 'The run that the event started, as in `runs`.' }),
  reason: z
    .enum(['paused', 'too_many_hops', 'backlog_full', 'hold_full', 'no_such_channel', 'filtered', 'filter_too_costly'])
    .optional()
    .openapi({
      description:
        'Of `missed`: it was stopped; the chain of events was longer than `maxEventHops`; more waited than the account may have; it was stopped, and more was held than `maxPausedDeliveries`; it was subscribed to other channels only; its filter did not match, or took more steps than a filter may.',
    }),
  clause: z.string().nullable().optional().openapi({
    description:
      'Of `filtered`: the first condition that did not match, as JSON text; null where the data cannot be read again.',
    example: '{"order.total":{"$gte":100}}',
  }),
});

const eventSchema = z.object({
  id: z.string().describe('The id of the event.'),
  emit_id: z.string().describe('Its id among those of all emitters: `<emitter_id>-<id>`.'),
  name: z.string().openapi({ description: "The channel; '' is the default channel." }),
  summary: z.string().nullable().describe('The summary that the component gave. Null: none.'),
  component_id: z.string().nullable().openapi({ description: 'The id that the component gave.' }),
  indexed_at_ms: z.int().describe('When it was stored. Epoch milliseconds.'),
  bytes: z.int().openapi({ description: 'Of its data, as JSON.' }),
  listeners: z.array(listenerSchema).describe('What is subscribed to it, and what each came to.'),
});

const traceRunSchema = z
  .object({
    type: z.enum(['run', 'execution']).openapi({ description: 'Of a source, or of a workflow.' }),
    id: z.string().describe('The id of the run (`inv_…`) or execution (`exec_…`).'),
    emitter_id: z.string().describe('The source or workflow that ran.'),
    emitter_name: z.string().nullable().describe('Its name. Null: it was deleted.'),
    kind: z
      .string()
      .nullable()
      .openapi({ description: 'What started it, where it is known: `http`, `timer`, `manual`, `event`.' }),
    caused_by: z.string().nullable().openapi({ description: 'The `emit_id` of the event that started it.' }),
    status: z.string().openapi({ description: '`ok` and `error` of a run, those of executions, `queued`, `running`.' }),
    explanation: z.string().openapi({
      description:
        'What has become of it so far, in words: `1 event emitted, dropped by dedupe unique: id 42 was known`.',
      example: 'ran, emitted nothing',
    }),
    node_id: z.string().nullable().openapi({ description: 'Of one that is `running`: the node that has it.' }),
    emitter_stopped: z.boolean().openapi({
      description: 'It is `queued` because its source or workflow is stopped: it waits until that is active.',
    }),
    waits: z
      .object({
        kind: z.enum(['delay', 'suspend', 'rerun', 'retry']).describe('The reason why it waits.'),
        until: z.int().describe('When it goes on by itself. Epoch milliseconds.'),
      })
      .nullable()
      .openapi({ description: 'Of an execution that is `waiting`: for what, and until when. Epoch milliseconds.' }),
    reason: z.string().nullable().openapi({ description: 'Of one that `exited`: what `$.flow.exit` was given.' }),
    invoked_at: moment('When it was accepted.'),
    started_at: moment('When it began.'),
    ended_at: moment('When it ended.'),
    queued_ms: z.int().nullable().openapi({ description: 'How long it waited to begin.' }),
    ran_ms: z
      .int()
      .nullable()
      .openapi({ description: 'From its beginning to its end, waits of an execution included.' }),
    error: executionErrorSchema.nullable().describe('What it failed with. Null: nothing.'),
    logs: z.array(logLineSchema).describe('What it logged.'),
    steps: z
      .array(
        z.object({
          namespace: z.string().describe('The name of the step.'),
          status: z.string().describe('How it ended.'),
          runs: z.int().describe('How often it was run.'),
          started_at: z.int().describe('When it began. Epoch milliseconds.'),
          ended_at: z.int().describe('When it ended. Epoch milliseconds.'),
          error: executionErrorSchema.nullable().describe('What it failed with. Null: nothing.'),
          summary: z.string().nullable().openapi({ description: 'What it exported as `$summary`.' }),
          props: z.unknown().openapi({
            description: `Its props as the component got them, as \`GET /v1/executions/{id}\` shows them; null where it has none, and beyond ${LIMITS.maxTraceLogBytes} bytes of all steps.`,
          }),
          logs: z.array(logLineSchema).describe('What it logged.'),
        }),
      )
      .describe('The steps that an execution has run.'),
    events: z.array(eventSchema).openapi({ description: 'What it emitted, in the order in which it was stored.' }),
    deduped: z
      .object({
        count: z.int().describe('How many were dropped.'),
        ids: z.array(z.string()).describe('The first of their ids.'),
        strategy: z
          .enum(['unique', 'greatest', 'last'])
          .nullable()
          .describe('How ids are compared. Null: it is not known any more.'),
      })
      .nullable()
      .openapi({
        description: `So many of the events that it emitted were known already, by the dedupe \`strategy\`; \`ids\` are the first ${LIMITS.maxMissedIds}.`,
      }),
    sends: z
      .array(
        z.object({
          id: z.string().describe('The id of the send.'),
          kind: z.string().describe('`http`, `email` or `s3`.'),
          status: z.string().describe('`pending`, `delivered` or `failed`.'),
          attempts: z.array(attemptSchema).describe('The requests that were made, the first one first.'),
        }),
      )
      .describe('What it sent with `$.send`.'),
  })
  .openapi('TraceRun');

export const traceSchema = z
  .object({
    id: z.string().describe('The id of the trace: that of the first run.'),
    truncated: z.boolean().openapi({
      description: `There is more: at most ${LIMITS.maxTraceRows} of runs, executions, steps, events, deliveries and sends each are shown, ${LIMITS.maxTraceListeners} listeners of all events together, those first that got one or were to get one, the last ${LIMITS.maxTraceAttempts} attempts of each delivery and send, and ${LIMITS.maxTraceLogBytes} bytes of log lines.`,
    }),
    runs: z
      .array(traceRunSchema)
      .openapi({ description: 'Those that no event of the trace has started: usually one.' }),
  })
  .openapi('Trace');

/**
 * As JSON text that is made piece by piece: between them the thread is for others, whatever the
 * trace has of lines and errors.
 */
export async function presentTrace({ id, isCut, runs }: TraceRecord): Promise<z.output<typeof traceSchema>> {
  const out: Out = { pieces: [], giveWay: createGiveWay() };
  await writeList(runs, out, writeRun);
  const text = new RawJson(...out.pieces) as unknown as z.output<typeof traceRunSchema>[];
  return { id, truncated: isCut, runs: text };
}

interface Out {
  pieces: string[];
  giveWay: () => Promise<void>;
}

async function writeList<T>(items: readonly T[], out: Out, write: (item: T, out: Out) => Promise<void> | void) {
  for (const [index, item] of items.entries()) {
    out.pieces.push(index === 0 ? '[' : ',');
    await write(item, out);
    await out.giveWay();
  }
  out.pieces.push(items.length === 0 ? '[]' : ']');
}

/** An object with a last member that is written by itself. */
async function writeWith(record: object, name: string, out: Out, writeMember: () => Promise<void>): Promise<void> {
  out.pieces.push(`${JSON.stringify(record).slice(0, -1)},"${name}":`);
  await writeMember();
  out.pieces.push('}');
}

/** Goes as deep as a chain of events is long, which maxEventHops bounds. */
function writeRun(run: TraceRun, out: Out): Promise<void> {
  return writeWith(presentRun(run), 'events', out, () => writeList(run.events, out, writeEvent));
}

function writeEvent(event: TraceEvent, out: Out): Promise<void> {
  return writeWith(presentEvent(event), 'listeners', out, () => writeList(event.listeners, out, writeListener));
}

function writeListener(listener: TraceListener, out: Out): Promise<void> | void {
  const record = presentListener(listener);
  if (listener.outcome === 'run') return writeWith(record, 'run', out, () => writeRun(listener.run, out));
  out.pieces.push(JSON.stringify(record));
}

function presentRun(run: TraceRun): Omit<z.output<typeof traceRunSchema>, 'events'> {
  const { invokedAtMs: invoked, startedAtMs: started, endedAtMs: ended } = run;
  return {
    type: run.type,
    id: run.id,
    emitter_id: run.emitterId,
    emitter_name: run.emitterName ?? null,
    kind: run.kind ?? null,
    caused_by: run.causedBy ?? null,
    status: run.status,
    explanation: run.explanation,
    node_id: run.nodeId ?? null,
    emitter_stopped: run.isStopped === true,
    waits: run.wait === undefined ? null : { kind: run.wait.kind, until: run.wait.until.getTime() },
    reason: run.reason ?? null,
    invoked_at: whole(invoked),
    started_at: whole(started),
    ended_at: whole(ended),
    queued_ms: between(invoked, started),
    ran_ms: between(started, ended),
    error: presentError(run.error),
    logs: presentLines(run.logs),
    steps: run.steps.map((step) => ({
      namespace: step.namespace,
      status: step.status,
      runs: step.runs,
      started_at: Math.round(step.startedAtMs),
      ended_at: Math.round(step.endedAtMs),
      error: presentError(step.error),
      summary: step.summary ?? null,
      props: step.props === undefined ? null : (JSON.parse(step.props) as unknown),
      logs: presentLines(step.logs),
    })),
    deduped: presentDeduped(run.deduped),
    sends: run.sends,
  };
}

function presentDeduped(deduped: TraceRun['deduped']): z.output<typeof traceRunSchema>['deduped'] {
  if (deduped === undefined) return null;
  return { count: deduped.count, ids: deduped.emitIds, strategy: deduped.strategy ?? null };
}

function presentEvent(event: TraceEvent): Omit<z.output<typeof eventSchema>, 'listeners'> {
  return {
    id: event.id,
    emit_id: `${event.emitterId}-${event.id}`,
    name: event.channel,
    summary: event.summary ?? null,
    component_id: event.emitId ?? null,
    indexed_at_ms: event.indexedAtMs,
    bytes: event.bytes,
  };
}

/** Without its run. */
function presentListener(listener: TraceListener): z.output<typeof listenerSchema> {
  const { listenerId, listenerName = null, outcome } = listener;
  const base = { listener_id: listenerId, listener_name: listenerName, outcome };
  switch (outcome) {
    case 'delivery': {
      const { id, status, attempts, nextAttemptAtMs } = listener.delivery;
      return { ...base, delivery: { id, status, attempts, next_attempt_at: whole(nextAttemptAtMs) } };
    }
    case 'run':
      return base;
    case 'missed':
      return {
        ...base,
        reason: listener.reason,
        ...(listener.reason === 'filtered' ? { clause: listener.clause ?? null } : {}),
      };
  }
}

const whole = (ms: number | undefined): number | null => (ms === undefined ? null : Math.round(ms));

/** Clocks of nodes differ: nothing takes less than no time. */
function between(fromMs: number | undefined, toMs: number | undefined): number | null {
  return fromMs === undefined || toMs === undefined ? null : Math.max(0, Math.round(toMs - fromMs));
}
