import { safeLine } from '../terminal/safe-text.ts';

interface TestedStep {
  namespace: string;
  status: string;
  props?: Record<string, unknown>;
  $return_value?: unknown;
  exports: Record<string, unknown>;
  logs: { message: string }[];
  error: { code: string; message: string; stack: string | null } | null;
  flow: { kind: string; ms?: number; reason?: string } | null;
  sends: { kind: string; payload: unknown }[];
  started_at: number;
  ended_at: number;
}

/** The answer of a test of steps, as far as it is shown. */
export interface WorkflowTest {
  status: string;
  steps: TestedStep[];
}

export function testText({ steps, status }: WorkflowTest): string {
  return [...steps.flatMap(linesOf), status].join('\n');
}

function linesOf(step: TestedStep): string[] {
  const { namespace, status, props = {}, exports, logs, error, flow, sends } = step;
  const value = '$return_value' in step ? [['$return_value', step.$return_value] as const] : [];
  return [
    `${safeLine(namespace)}  ${status}  ${step.ended_at - step.started_at} ms`,
    ...Object.entries(props).map(([name, given]) => `  got ${name} = ${JSON.stringify(given)}`),
    ...logs.map(({ message }) => `  log ${safeLine(message)}`),
    ...[...value, ...Object.entries(exports)].map(([name, given]) => `  ${name} = ${JSON.stringify(given)}`),
    ...sends.map(({ kind, payload }) => `  would send by ${kind}: ${JSON.stringify(payload)}`),
    ...(flow === null ? [] : [`  asked for ${flow.kind}${flow.ms === undefined ? '' : ` of ${flow.ms} ms`}`]),
    ...(error === null ? [] : errorLines(error)),
  ];
}

/** The stack begins with the message. */
function errorLines({ code, message, stack }: NonNullable<TestedStep['error']>): string[] {
  const [first, ...frames] = (stack ?? '').split('\n');
  return [
    `  ${code}: ${safeLine(first === '' || first === undefined ? message : first)}`,
    ...frames.map((line) => `  ${safeLine(line)}`),
  ];
}
