import type { RunFault } from '@headwater/sandbox-runtime';
import { type ExceededLimit, LIMITS } from '@headwater/shared';
import type { SecretValue } from './redactor.ts';

type SecretsFault = RunFault & { code: 'RESOURCE_LIMIT'; limit: ExceededLimit };

/**
 * Counts the secrets of one run. There may be many large ones, in props and environment variables,
 * and all output of the run is searched for them. Returns a fault as soon as the limit is exceeded.
 * A value that several props have counts once.
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
