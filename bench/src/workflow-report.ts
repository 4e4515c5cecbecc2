import type { LatencySummary } from './load/latencies.ts';
import type { Machine } from './machine.ts';
import type { CpuTimes } from './system/cpu-times.ts';
import { formatCount, formatCpu, formatLatency, formatMachine, line } from './text.ts';

export interface WorkflowFigures {
  system: string;
  steps: number;
  inFlight: number;
  perSecond: number;
  /** Answered 200. */
  executions: number;
  /** Answers of another status than 200. */
  failed: number;
  answers: LatencySummary;
  cpu: CpuTimes;
}

/**
 * One paragraph for each size of workflow and number in flight; the others beside the first system,
 * as a ratio to it.
 */
export function formatWorkflows(machine: Machine, figures: readonly WorkflowFigures[]): string {
  const groups = Map.groupBy(figures, ({ steps, inFlight }) => `${steps} steps, ${inFlight} in flight`);
  const paragraphs = [...groups].map(([title, group]) =>
    [`workflow: ${title}`, ...group.map(beside(group))].join('\n'),
  );
  return [formatMachine(machine), ...paragraphs].join('\n');
}

function beside([first]: readonly WorkflowFigures[]) {
  return (figures: WorkflowFigures): string => {
    const { system, perSecond, executions, answers, failed, cpu } = figures;
    const ratio =
      first === undefined || first === figures ? '' : `, ours is ${(first.perSecond / perSecond).toFixed(1)} ×`;
    const failures = failed === 0 ? '' : `, ${formatCount(failed)} failed`;
    return [
      line(system, `${formatCount(perSecond)}/s, ${formatLatency(answers)}${ratio}${failures}`),
      line('', `CPU, µs an execution: ${formatCpu(cpu, executions)}`),
    ].join('\n');
  };
}
