import type { TestedStep, WorkflowTestRecord } from '@headwater/engine';
import type { Shown, testedStepSchema, workflowTestSchema } from '@headwater/shared/contract';
import { lateList, lateRecord, RawJson } from '../raw-json.ts';
import { presentError, presentLines } from './execution.ts';

export function presentWorkflowTest(record: WorkflowTestRecord): Shown<typeof workflowTestSchema> {
  const { deploymentId, status, event, context, steps } = record;
  return {
    deployment_id: deploymentId ?? null,
    status,
    trigger: lateRecord({ event: new RawJson(event), context: new RawJson(context) }),
    steps: lateList(steps.map(presentStep)),
  };
}

function presentStep(step: TestedStep): Shown<typeof testedStepSchema> {
  const {
    namespace,
    status,
    props,
    propsCut = [],
    value,
    exports,
    logs,
    error,
    flow,
    sends,
    responds,
    startedAt,
    endedAt,
  } = step;
  return lateRecord({
    namespace,
    status,
    ...(props === undefined ? {} : { props: new RawJson(props) }),
    ...(propsCut.length === 0 ? {} : { truncated: propsCut.map((name) => `props.${name}`) }),
    ...(value === undefined ? {} : { $return_value: new RawJson(value) }),
    exports: new RawJson(exports) as unknown as Record<string, unknown>,
    logs: lateList(presentLines(logs)),
    error: presentError(error),
    flow: flow === undefined ? null : flowOf(flow),
    sends: lateList(sends.map(({ kind, payload }) => lateRecord({ kind, payload: new RawJson(payload) }))),
    responds: lateList(responds.map(presentResponse)),
    started_at: startedAt.getTime(),
    ended_at: endedAt.getTime(),
  });
}

function flowOf(flow: NonNullable<TestedStep['flow']>): NonNullable<Shown<typeof testedStepSchema>['flow']> {
  if (flow.kind !== 'rerun' || flow.context === undefined) return flow;
  return lateRecord({ ...flow, context: new RawJson(flow.context) });
}

function presentResponse({ status, headers, body, isText, isCut, immediate }: TestedStep['responds'][number]) {
  const text = Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString(isText ? 'utf8' : 'base64');
  return { status, headers, body: text, is_base64: !isText, body_truncated: isCut, immediate };
}
