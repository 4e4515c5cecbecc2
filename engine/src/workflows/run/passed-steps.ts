/**
 * Of rows of steps, as text: those behind which an execution goes on, and which it never runs
 * again.
 */
export const PASSED_STATUSES: readonly string[] = ['done', 'waiting', 'continued'];

export function isPassed(status: string): boolean {
  return PASSED_STATUSES.includes(status);
}
