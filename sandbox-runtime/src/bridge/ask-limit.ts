import type { ExceededLimit } from '@headwater/shared';

/** With the limit as JSON behind it: why an ask was refused. */
export const ASK_LIMIT_MARK = 'limit|';

export function askLimitText(limit: ExceededLimit): string {
  return ASK_LIMIT_MARK + JSON.stringify(limit);
}
