import type { RunFault } from '@headwater/sandbox-runtime';
import { type ExceededLimit, LIMITS } from '@headwater/shared';
import type { SecretValue } from './redactor.ts';

type SecretsFault = RunFault & { code: 'RESOURCE_LIMIT'; limit: ExceededLimit };

/**
 * Counts what may not leave one run, as there are props of many accounts and many environment
 * variables, each of which may be large: whatever the run puts out is searched for it. A fault as
 * soon as it is more than is allowed; what several props have counts once.
 */
export function createSecretCount(): (secrets: readonly SecretValue[]) => SecretsFault | undefined {
  const seen = new Set<unknown>();
  let used = 0;
  return (secrets) => {
    for (const { value } of secrets) {
      if (seen.has(value)) continue;
      seen.add(value);
      used += Buffer.byteLength(typeof value === 'string' ? value : (JSON.stringify(value) ?? ''));
      if (used > LIMITS.maxRunSecretBytes) return tooManySecrets(used);
    }
    return undefined;
  };
}

/** `used`: at least. */
export function tooManySecrets(used: number): SecretsFault {
  const value = LIMITS.maxRunSecretBytes;
  const message =
    `Secret props, secrets of connected accounts and environment variables of the run have ${used} bytes together; ` +
    `the limit maxRunSecretBytes is ${value} bytes`;
  return { code: 'RESOURCE_LIMIT', message, limit: { name: 'maxRunSecretBytes', value, used } };
}
