import { type AccountLimits, type ExceededLimit, LIMITS } from '@headwater/shared';
import type { SendContent } from '../sends/new-send.ts';
import type { AttemptFacts, AttemptOutcome } from '../transport.ts';

/** A limit contains only its name, value and use, so it repeats no secret. */
export function plainOf({ plain, limit }: { plain?: string; limit?: ExceededLimit }): Pick<AttemptFacts, 'plain'> {
  if (plain !== undefined) return { plain };
  // By this name the account's limit is another; see limitField.
  if (limit?.name === 'fetchTimeoutMs') return { plain: `It took longer than ${limit.value} ms` };
  return limit === undefined ? {} : { plain: `It went over ${limit.name}, which is ${limit.value}` };
}

/**
 * Omits the limit if a platform value replaces the account's (`sendTimeoutMs`): the account's limit
 * of that name has another value.
 */
export function limitField(limits: AccountLimits, exceeded: ExceededLimit | undefined): { limit?: ExceededLimit } {
  if (exceeded === undefined) return {};
  const own: Partial<Record<ExceededLimit['name'], number>> = { ...LIMITS, ...limits };
  return own[exceeded.name] === exceeded.value ? { limit: exceeded } : {};
}

const NOT_TOLD = 'It was not delivered; why is not told, as what was sent has a secret in it';

/**
 * Drops everything that may repeat a secret of a send: the receiver's answer, and errors with a
 * given value or the host of a redirect.
 */
export function withoutSecretsOfSend(contents: readonly SendContent[], outcome: AttemptOutcome): AttemptOutcome {
  if (contents.every(({ sealed }) => sealed === undefined)) return outcome;
  const { body: _, responseHeaders: __, times: ___, error, plain = NOT_TOLD, ...rest } = outcome;
  return error === undefined ? rest : { ...rest, error: plain };
}
