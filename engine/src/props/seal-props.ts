import { LIMITS, type PropDefinition } from '@headwater/shared';
import type { Sql } from '../db/index.ts';
import { readPropReferences } from './prop-references.ts';
import { isSealed, isUnopened, type PropOpener } from './run-props.ts';
import { type Completeness, type ExpressionCheck, invalidProps, validateProps } from './validate-props.ts';

export type { ExpressionCheck } from './validate-props.ts';

export interface PropSealer extends PropOpener {
  seal(accountId: string, plaintext: string): string;
}

export interface PropContext {
  sql: Sql;
  sealer: PropSealer;
}

export interface GivenProps {
  definitions: readonly PropDefinition[];
  given: Readonly<Record<string, unknown>>;
  /** Current configuration, as stored. Default: none. */
  stored?: Readonly<Record<string, unknown>>;
  /** Names of props that may be given. Default: any may, and what no prop has is left out. */
  known?: readonly string[] | undefined;
  /** Default: complete. */
  completeness?: Completeness;
  /** For a step. Absent: `{{…}}` is plain text. */
  expressions?: ExpressionCheck;
}

/**
 * Validates configured props and seals secrets, for storage. Given values replace stored ones, null
 * removes one, the rest stays: a secret that is not sent again is kept. It stays sealed even if its
 * definition no longer marks it as secret. Otherwise a user with the right to change code could
 * read it. Throws INVALID_PROPS with all faults.
 */
export async function configureProps(
  { sql, sealer }: PropContext,
  accountId: string,
  { definitions, given, stored = {}, known, completeness = 'complete', expressions }: GivenProps,
): Promise<Record<string, unknown>> {
  const kept = Object.entries(stored).filter(([name]) => !Object.hasOwn(given, name));
  const all = { ...openStoredProps(sealer, accountId, Object.fromEntries(kept)), ...given };
  const references = await readPropReferences(sql, accountId, definitions, all);
  const names = known === undefined ? undefined : { given, known };
  const values = validateProps(definitions, all, references, { completeness, names, expressions });
  const keptSecrets = kept.filter(([, value]) => isSealed(value)).map(([name]) => name);
  return sealSecrets(sealer, accountId, values, [
    ...definitions.filter(isSecret).map(({ name }) => name),
    ...keptSecrets,
  ]);
}

/**
 * A schedule is needed outside of runs, and so are the ids of stores and accounts, which prove
 * nothing.
 */
const isSecret = ({ type, secret }: PropDefinition) =>
  secret === true && !type.startsWith('$.') && type !== 'app' && type !== 'data_store';

/** Values of secret props become `{ "$sealed": "…" }`. */
function sealSecrets(
  sealer: PropSealer,
  accountId: string,
  values: Readonly<Record<string, unknown>>,
  secretNames: readonly string[],
): Record<string, unknown> {
  const secret = new Set(secretNames);
  let secretBytes = 0;
  const stored = Object.entries(values).map(([name, value]): [string, unknown] => {
    if (!secret.has(name)) return [name, value];
    const text = JSON.stringify(value);
    secretBytes += Buffer.byteLength(text);
    return [name, { $sealed: sealer.seal(accountId, text) }];
  });
  if (secretBytes > LIMITS.maxSecretPropsBytes) {
    const message = `Secret props have ${secretBytes} bytes together; at most ${LIMITS.maxSecretPropsBytes} are allowed`;
    const limit = { name: 'maxSecretPropsBytes', value: LIMITS.maxSecretPropsBytes, used: secretBytes } as const;
    throw invalidProps([{ path: 'configured_props', message }], { limit });
  }
  return Object.fromEntries(stored);
}

/** Throws INVALID_PROPS for a secret that does not open any more. */
export function openStoredProps(
  sealer: PropSealer,
  accountId: string,
  stored: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(stored).map(([name, value]) => [name, openStored(sealer, accountId, name, value)]),
  );
}

function openStored(sealer: PropSealer, accountId: string, name: string, value: unknown): unknown {
  if (!isSealed(value)) return value;
  try {
    return JSON.parse(sealer.open(accountId, value.$sealed));
  } catch (cause) {
    if (!isUnopened(cause)) throw cause;
    const message = 'The stored secret cannot be opened; give it again';
    throw invalidProps([{ path: `configured_props.${name}`, message }], { cause });
  }
}
