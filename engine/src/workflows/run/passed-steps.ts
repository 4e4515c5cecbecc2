/** Statuses of stored steps that the execution has passed and never runs again. */
export const PASSED_STATUSES: readonly string[] = ['done', 'waiting', 'continued'];

export function isPassed(status: string): boolean {
  return PASSED_STATUSES.includes(status);
}
