import type { ExecutionError, ExecutionRecord, ExecutionStepRecord, ShownJson } from '@headwater/engine';
import type { LogLine } from '@headwater/shared';
import type {
  executionErrorSchema,
  executionSchema,
  executionStepSchema,
  logLineSchema,
  Shown,
} from '@headwater/shared/contract';
import { lateList, lateRecord, RawJson } from '../raw-json.ts';

type Summary = Omit<Shown<typeof executionSchema>, 'steps'>;

function presentSummary(execution: ExecutionRecord): Summary {
  const { event, context, wait } = execution;
  const trigger = {
    event: jsonOf(event),
    event_truncated: event.isCut === true,
    context: context === undefined ? null : new RawJson(context),
  };
  return {
    id: execution.id,
    workflow_id: execution.workflowId,
    deployment_id: execution.deploymentId ?? null,
    status: execution.status,
    kind: execution.kind,
    trace_id: execution.traceId,
    caused_by: execution.causedBy ?? null,
    replay_of: execution.replayOf ?? null,
    // JSON within JSON is put together as text: values of components are never parsed here.
    trigger: lateRecord(trigger),
    error: presentError(execution.error),
    reason: execution.reason ?? null,
    wait: wait === undefined ? null : { kind: wait.kind, until: wait.until.getTime() },
    started_at: execution.startedAt?.getTime() ?? null,
    ended_at: execution.endedAt?.getTime() ?? null,
  };
}

export function presentExecution(execution: ExecutionRecord): Shown<typeof executionSchema> {
  // Megabytes of them are made by and by.
  const steps = Object.fromEntries(execution.steps.map((step) => [step.namespace, presentStep(step)]));
  return { ...presentSummary(execution), steps: lateRecord(steps) };
}

function presentStep(step: ExecutionStepRecord): Shown<typeof executionStepSchema> {
  const { value, exports, props, propsCut = [] } = step;
  const truncated = [
    ...(value?.isCut === true ? ['$return_value'] : []),
    ...(exports.isCut === true ? ['exports'] : []),
    ...(step.logsAreCut === true ? ['logs'] : []),
    ...propsCut.map((name) => `props.${name}`),
  ];
  return lateRecord({
    status: step.status,
    runs: step.runs,
    ...(props === undefined ? {} : { props: new RawJson(props) }),
    ...(value === undefined ? {} : { $return_value: jsonOf(value) }),
    exports: jsonOf(exports),
    ...(truncated.length === 0 ? {} : { truncated }),
    logs: lateList(presentLines(step.logs)),
    error: presentError(step.error),
    started_at: step.startedAt.getTime(),
    ended_at: step.endedAt.getTime(),
  });
}

export function presentLines(lines: readonly LogLine[]): Shown<typeof logLineSchema>[] {
  return lines.map(({ atMs: at, level, message, limit }) => ({
    at,
    level,
    message,
    ...(limit === undefined ? {} : { limit }),
  }));
}

export function presentError(error: ExecutionError | undefined): Shown<typeof executionErrorSchema> | null {
  if (error === undefined) return null;
  const { code, message, stack = null, namespace = null, limit = null } = error;
  return { code, message, stack, namespace, limit };
}

const jsonOf = ({ text, isCut }: ShownJson) => (isCut === true ? text : new RawJson(text));
