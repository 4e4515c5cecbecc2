import { HeadwaterError, LIMITS, type PropDefinition } from '@headwater/shared';
import { isSealed, isUnopened, type PropOpener } from './run-props.ts';
import { validateProps } from './validate-props.ts';

export interface PropSealer extends PropOpener {
  seal(accountId: string, plaintext: string): string;
}

/** Validated values as they are stored: those of secret props as `{ "$sealed": "…" }`. Throws INVALID_PROPS. */
export function sealSecrets(
  sealer: PropSealer,
  accountId: string,
  definitions: readonly PropDefinition[],
  values: Readonly<Record<string, unknown>>,
  alsoSecret: readonly string[] = [],
): Record<string, unknown> {
  const secret = new Set([...definitions.filter(isSecret).map(({ name }) => name), ...alsoSecret]);
  let secretBytes = 0;
  const stored = Object.entries(values).map(([name, value]): [string, unknown] => {
    if (!secret.has(name)) return [name, value];
    const text = JSON.stringify(value);
    secretBytes += Buffer.byteLength(text);
    return [name, { $sealed: sealer.seal(accountId, text) }];
  });
  if (secretBytes > LIMITS.maxSecretPropsBytes) {
    const message = `Secret props have ${secretBytes} bytes together; at most ${LIMITS.maxSecretPropsBytes} are allowed`;
    throw new HeadwaterError('INVALID_PROPS', message, { fields: [{ path: 'configured_props', message }] });
  }
  return Object.fromEntries(stored);
}

/** A schedule is needed outside of runs. */
const isSecret = ({ type, secret }: PropDefinition) => secret === true && !type.startsWith('$.');

/**
 * The props of an update: values given replace stored ones, null removes one, the rest stays, so a secret that is not
 * sent again is kept. It stays sealed also where the new code does not call it secret any more: whoever may change code
 * must not get to see it by that. Throws INVALID_PROPS.
 */
export function mergeProps(
  sealer: PropSealer,
  accountId: string,
  definitions: readonly PropDefinition[],
  stored: Readonly<Record<string, unknown>>,
  given: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const kept = Object.entries(stored).filter(([name]) => !Object.hasOwn(given, name));
  const opened = kept.map(([name, value]): [string, unknown] => [name, openStored(sealer, accountId, name, value)]);
  const values = validateProps(definitions, { ...Object.fromEntries(opened), ...given });
  const keptSecrets = kept.filter(([, value]) => isSealed(value)).map(([name]) => name);
  return sealSecrets(sealer, accountId, definitions, values, keptSecrets);
}

function openStored(sealer: PropSealer, accountId: string, name: string, value: unknown): unknown {
  if (!isSealed(value)) return value;
  try {
    return JSON.parse(sealer.open(accountId, value.$sealed));
  } catch (cause) {
    if (!isUnopened(cause)) throw cause;
    const path = `configured_props.${name}`;
    const message = 'The stored secret cannot be opened; give it again';
    throw new HeadwaterError('INVALID_PROPS', `${path}: ${message}`, { fields: [{ path, message }], cause });
  }
}
