import type { ExceededLimit } from '@headwater/shared';
import type { GuestLimits } from '../bridge/guest-limits.ts';
import { stringifyOwn } from './intrinsics.ts';
import { standardLimitError } from './limit-error.ts';

interface Head {
  url?: string;
  method?: string;
  redirect?: string;
  status?: number;
  headers: readonly (readonly [string, string])[];
}

type HeadLimits = Pick<GuestLimits, 'maxFetchMethodChars' | 'maxHeaderNameChars' | 'maxHeadChars'>;

/**
 * A head that the other side would refuse is a TypeError with its limit at the author's line:
 * refused there, it ends the whole process.
 */
export function checkedHead(head: Head, limits: HeadLimits): string {
  const { maxFetchMethodChars, maxHeaderNameChars, maxHeadChars } = limits;
  const methodChars = head.method?.length ?? 0;
  if (methodChars > maxFetchMethodChars)
    throw refuse({ name: 'maxFetchMethodChars', value: maxFetchMethodChars, used: methodChars });
  for (let index = 0; index < head.headers.length; index += 1) {
    const used = head.headers[index]?.[0].length ?? 0;
    if (used > maxHeaderNameChars) throw refuse({ name: 'maxHeaderNameChars', value: maxHeaderNameChars, used });
  }
  const json = stringifyOwn(head);
  if (json.length > maxHeadChars) throw refuse({ name: 'maxHeadChars', value: maxHeadChars, used: json.length });
  return json;
}

function refuse(limit: ExceededLimit): Error {
  return standardLimitError((message) => new TypeError(message), limit);
}
