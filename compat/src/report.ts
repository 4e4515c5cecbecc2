import type { RanComponents } from './run/run-components.ts';
import type { Failure, SavedComponents } from './save-components.ts';

const SHOWN_CAUSES = 40;
const SHOWN_PATHS = 3;
const SHOWN_MESSAGE_CHARS = 300;

/** The report for people: shares, times, and the causes with the most failures first. */
export function formatReport({ total, saved, failed, saveMs, elapsedMs }: SavedComponents): string {
  return [
    `${total} components, ${saved} saved (${percent(saved, total)}), ${failed.length} failed`,
    `${seconds(elapsedMs)} in all; a save took ${quantile(saveMs, 0.5)} ms p50, ${quantile(saveMs, 0.99)} ms p99`,
    ...formatCauses(failed),
  ].join('\n');
}

/** Part of the text report that --run adds. */
export function formatRuns({ total, completed, failed, unanswered, silent }: RanComponents): string {
  return [
    `\n${total} components call an HTTP API and complete in Node.js; ${completed} of them (${percent(completed, total)}) in the sandbox`,
    `left out: ${unanswered} fail in Node.js as well against the mock, ${silent} make no request`,
    ...formatCauses(failed),
  ].join('\n');
}

/**
 * The report for programs: exactly total, saved and failed, and `run` only where components were
 * run.
 */
export function formatJson({ total, saved, failed }: SavedComponents, run?: RanComponents): string {
  return JSON.stringify({ total, saved, failed, ...(run === undefined ? {} : { run }) }, undefined, 2);
}

function formatCauses(failed: readonly Failure[]): string[] {
  const causes = [...Map.groupBy(failed, (failure) => failure.cause)].sort(([, a], [, b]) => b.length - a.length);
  const hidden = causes.length - SHOWN_CAUSES;
  const lines = causes.slice(0, SHOWN_CAUSES).map(([cause, failures]) => formatCause(cause, failures));
  return hidden > 0 ? [...lines, `and ${hidden} causes more; --json lists every failure`] : lines;
}

function formatCause(cause: string, failures: readonly Failure[]): string {
  const paths = failures.slice(0, SHOWN_PATHS).map((failure) => `        ${failure.path}`);
  const more = failures.length > SHOWN_PATHS ? [`        and ${failures.length - SHOWN_PATHS} more`] : [];
  const example = failures[0]?.message.split('\n')[0]?.slice(0, SHOWN_MESSAGE_CHARS) ?? '';
  return [`\n${String(failures.length).padStart(6)}  ${cause}`, `        e.g. ${example}`, ...paths, ...more].join(
    '\n',
  );
}

function percent(part: number, total: number): string {
  return total === 0 ? '-' : `${((part / total) * 100).toFixed(1)} %`;
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}

/** Nearest rank; `-` of nothing. */
function quantile(values: readonly number[], share: number): string {
  const sorted = values.toSorted((a, b) => a - b);
  const value = sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)];
  return value === undefined ? '-' : value.toFixed(0);
}
