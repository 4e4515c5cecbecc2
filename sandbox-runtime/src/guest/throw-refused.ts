import type { ExceededLimit } from '@headwater/shared';
import { ASK_LIMIT_MARK } from '../bridge/ask-limit.ts';
import { parseJson, sliceText } from './intrinsics.ts';
import { standardLimitError } from './limit-error.ts';

const makeError = (message: string): Error => new Error(message);

/** If a limit caused the refusal, throws an error with that limit. `make` creates it. */
export function throwLimitOf(reason: string, make: (message: string) => Error = makeError): void {
  if (sliceText(reason, 0, ASK_LIMIT_MARK.length) !== ASK_LIMIT_MARK) return;
  throw standardLimitError(make, parseJson(sliceText(reason, ASK_LIMIT_MARK.length)) as ExceededLimit);
}
