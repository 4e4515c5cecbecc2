import { type AccountLimits, type ExceededLimit, LIMITS } from '@headwater/shared';
import type { SendContent } from '../sends/new-send.ts';
import type { AttemptFacts, AttemptOutcome } from '../transport.ts';

/** Of a limit its name, value and what was used are all that there is to tell. */
export function plainOf({ plain, limit }: { plain?: string; limit?: ExceededLimit }): Pick<AttemptFacts, 'plain'> {
  if (plain !== undefined) return { plain };
  // By this name the account's limit is another; see limitField.
  if (limit?.name === 'fetchTimeoutMs') return { plain: `It took longer than ${limit.value} ms` };
  return limit === undefined ? {} : { plain: `It went over ${limit.name}, which is ${limit.value}` };
}

/**
 * Where a value of the platform stands in for the account's (`sendTimeoutMs`), the limit by that
 * name is another.
 */
export function limitField(limits: AccountLimits, exceeded: ExceededLimit | undefined): { limit?: ExceededLimit } {
  if (exceeded === undefined) return {};
  const own: Partial<Record<ExceededLimit['name'], number>> = { ...LIMITS, ...limits };
  return own[exceeded.name] === exceeded.value ? { limit: exceeded } : {};
}

const NOT_TOLD = 'It was not delivered; why is not told, as what was sent has a secret in it';

/**
 * Of a send with a secret in it nothing is kept that may repeat the secret: not what the receiver
 * answered, nor an error that names something given, or a host to which the receiver has
 * redirected.
 */
export function withoutSecrets(contents: readonly SendContent[], outcome: AttemptOutcome): AttemptOutcome {
  if (contents.every(({ sealed }) => sealed === undefined)) return outcome;
  const { body: _, responseHeaders: __, times: ___, error, plain = NOT_TOLD, ...rest } = outcome;
  return error === undefined ? rest : { ...rest, error: plain };
}
