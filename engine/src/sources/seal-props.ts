import type { PropDefinition } from '@headwater/shared';
import { isSealed, type PropOpener } from './run-props.ts';
import { validateProps } from './validate-props.ts';

export interface PropSealer extends PropOpener {
  seal(accountId: string, plaintext: string): string;
}

/** Validated values as they are stored: those of secret props as `{ "$sealed": "…" }`. */
export function sealSecrets(
  sealer: PropSealer,
  accountId: string,
  definitions: readonly PropDefinition[],
  values: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const secret = new Set(definitions.filter((definition) => definition.secret === true).map(({ name }) => name));
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [
      name,
      secret.has(name) ? { $sealed: sealer.seal(accountId, JSON.stringify(value)) } : value,
    ]),
  );
}

/**
 * The props of an update: values given replace stored ones, null removes one, the rest stays, so a secret that is not
 * sent again is kept. Throws INVALID_PROPS.
 */
export function mergeProps(
  sealer: PropSealer,
  accountId: string,
  definitions: readonly PropDefinition[],
  stored: Readonly<Record<string, unknown>>,
  given: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const opened = Object.entries(stored).map(([name, value]): [string, unknown] => [
    name,
    isSealed(value) ? JSON.parse(sealer.open(accountId, value.$sealed)) : value,
  ]);
  const values = validateProps(definitions, { ...Object.fromEntries(opened), ...given });
  return sealSecrets(sealer, accountId, definitions, values);
}
