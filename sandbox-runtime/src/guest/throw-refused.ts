import type { ExceededLimit } from '@headwater/shared';
import { ASK_LIMIT_MARK } from '../bridge/ask-limit.ts';
import { parseJson, sliceText } from './intrinsics.ts';
import { standardLimitError } from './limit-error.ts';

const makeError = (message: string): Error => new Error(message);

/**
 * Where a limit is the reason of a refused ask: throws an error with it, of the kind that `make`
 * makes.
 */
export function throwLimitOf(reason: string, make: (message: string) => Error = makeError): void {
  if (sliceText(reason, 0, ASK_LIMIT_MARK.length) !== ASK_LIMIT_MARK) return;
  throw standardLimitError(make, parseJson(sliceText(reason, ASK_LIMIT_MARK.length)) as ExceededLimit);
}
