import {
  addStep,
  type ComponentBundle,
  type FlowAction,
  NO_STEPS,
  type SendCall,
  type StepHost,
  type StepInput,
} from '@headwater/sandbox-runtime';
import type { HttpResponse } from '@headwater/shared';
import { type RecordingHost, recordingHost } from './run-host.ts';
import type { RanComponent, RunOptions } from './sandbox-kit.ts';

/** Output of a step through `$`, in order. */
export interface StepRecord {
  exports: [name: string, value: unknown][];
  sends: { kind: SendCall['kind']; payload: unknown }[];
  flows: FlowAction[];
  responses: { response: HttpResponse; immediate: boolean }[];
  /** Values of its expressions, and the names of those that are cut. */
  props: [evaluated: unknown, cut: unknown][];
}

export interface StepOptions extends Omit<RunOptions, 'event' | 'hook' | 'entry' | 'host'> {
  /** By namespace, in order. */
  steps?: Record<string, unknown>;
  context?: Record<string, unknown>;
  env?: Record<string, string>;
  namespace?: string;
  host?: RecordingHost;
}

export interface RanStep extends RanComponent {
  record: StepRecord;
  /** Return value of the step, parsed. */
  returned: unknown;
  /** Its exports, the last value of each name. */
  exported: Record<string, unknown>;
}

export const RESUME_URL = 'http://hw.test/resume/exec_1/token';
export const CANCEL_URL = 'http://hw.test/cancel/exec_1/token';

type Run = (code: string | ComponentBundle, options: RunOptions) => Promise<RanComponent>;

/** Runs an action as a step; `run` is that of `sandboxForFile`. */
export async function runStep(run: Run, code: string | ComponentBundle, options: StepOptions = {}): Promise<RanStep> {
  const { steps, context, env, namespace, host = recordingHost(), ...rest } = options;
  const { step, record } = recordingStep();
  host.step = step;
  const input = stepInput({
    ...(steps && { steps }),
    ...(context && { context }),
    ...(env && { env }),
    ...(namespace !== undefined && { namespace }),
  });
  const ran = await run(code, { ...rest, host, entry: { kind: 'step', input } });
  const result = ran.outcome.ok ? ran.outcome.result : undefined;
  const returned = result === undefined ? undefined : (JSON.parse(result) as unknown);
  return { ...ran, record, returned, exported: Object.fromEntries(record.exports) };
}

export function stepInput(options: Pick<StepOptions, 'steps' | 'context' | 'env' | 'namespace'> = {}): StepInput {
  const steps = options.steps ?? { trigger: { event: {}, context: {} } };
  return {
    namespace: options.namespace ?? 'tested',
    steps: Object.entries(steps)
      .map(([namespace, exports]) => ({ namespace, exports: JSON.stringify(exports) }))
      .reduce(addStep, NO_STEPS),
    context: JSON.stringify(options.context ?? { JIT: false, run: { runs: 1 } }),
    env: options.env ?? {},
    resumeUrl: RESUME_URL,
    cancelUrl: CANCEL_URL,
  };
}

/** An action with this body of `run`, with `steps` and `$`. */
export function withStep(body: string, rest = ''): string {
  return `export default { name: 'test', version: '1', type: 'action', ${rest} async run({ steps, $ }) { ${body} } };`;
}

/** A StepHost that keeps everything. */
export function recordingStep(): { step: StepHost; record: StepRecord } {
  const record: StepRecord = { exports: [], sends: [], flows: [], responses: [], props: [] };
  const step: StepHost = {
    export: (name, valueJson) => void record.exports.push([name, JSON.parse(valueJson)]),
    send: ({ kind, payload }) => void record.sends.push({ kind, payload: JSON.parse(payload) }),
    flow: (action) => void record.flows.push(action),
    respond: (response, immediate) => void record.responses.push({ response, immediate }),
    props: (propsJson, cutJson) => void record.props.push([JSON.parse(propsJson), JSON.parse(cutJson)]),
  };
  return { step, record };
}
