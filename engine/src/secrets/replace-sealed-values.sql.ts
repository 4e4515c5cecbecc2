import type { Sql, Transaction } from '../db/index.ts';
import type { SealedValue } from './read-sealed-values.sql.ts';

/**
 * Puts other texts in the place of sealed ones, each only where the text is still the one that was
 * read; nothing else of its row changes, and no node needs to hear of it. Answers how many were
 * replaced.
 */
export async function replaceSealedValues(
  sql: Sql,
  replacements: readonly { value: SealedValue; sealed: string }[],
): Promise<number> {
  return sql.begin((tx) => replaceSealedValuesIn(tx, replacements));
}

/** The same in the caller's transaction. */
export async function replaceSealedValuesIn(
  tx: Transaction,
  replacements: readonly { value: SealedValue; sealed: string }[],
): Promise<number> {
  const done = await Promise.all(replacements.map((one) => replaceOne(tx, one.value, one.sealed)));
  return done.reduce((sum, { count }) => sum + count, 0);
}

const WEBHOOK_COLUMNS = {
  webhook: 'secret',
  'webhook-auth': 'request_auth',
  'webhook-client-key': 'client_key',
  'webhook-previous': 'previous_secret',
  'webhook-headers': 'request_headers',
} as const;

function isOfWebhook(kind: SealedValue['kind']): kind is keyof typeof WEBHOOK_COLUMNS {
  return Object.hasOwn(WEBHOOK_COLUMNS, kind);
}

function replaceOne(tx: Transaction, value: SealedValue, sealed: string) {
  const { kind } = value;
  if (isOfWebhook(kind)) {
    const column = tx(WEBHOOK_COLUMNS[kind]);
    return tx`
      update webhooks set ${column} = ${sealed}
      where account_id = ${value.accountId} and id = ${value.id} and ${column} = ${value.sealed}`;
  }
  switch (kind) {
    case 'connected-account':
      // Its version stays, because the sealed value is the same.
      return tx`
        update connected_accounts set credentials = ${sealed}
        where account_id = ${value.accountId} and id = ${value.id} and credentials = ${value.sealed}`;
    case 'oauth-client':
      return tx`
        update oauth_clients set secret = ${sealed}
        where owner = ${value.accountId} and secret = ${value.sealed}`;
    case 'oauth-state':
      return tx`
        update oauth_states set request = ${sealed}
        where state_hash = decode(${value.id}, 'hex') and request = ${value.sealed}`;
    case 'idempotent-answer':
      return tx`
        update idempotency_keys set answer = ${sealed}
        where account_id = ${value.accountId} and key = ${value.prop} and answer = ${value.sealed}`;
    case 'environment':
      return tx`
        update environment_variables set value = ${sealed}
        where account_id = ${value.accountId} and name = ${value.prop} and value = ${value.sealed}`;
    case 'deployment':
      return replaceInDeployment(tx, value, sealed);
    case 's3-settings':
      return tx`
        update s3_settings set secret_access_key = ${sealed}
        where account_id = ${value.accountId} and secret_access_key = ${value.sealed}`;
    case 'send':
      return tx`
        update sends set sealed = ${sealed}
        where account_id = ${value.accountId} and id = ${value.id} and sealed = ${value.sealed}`;
    case 'step': {
      const [executionId = '', position = ''] = value.id.split('/');
      return tx`
        update execution_steps set sends = replace(sends, ${value.sealed}, ${sealed})
        where account_id = ${value.accountId} and execution_id = ${executionId} and position = ${Number(position)}
          and position(${value.sealed} in sends) > 0`;
    }
    case 'wait':
      return tx`
        update execution_waits set context = ${sealed}
        where account_id = ${value.accountId} and execution_id = ${value.id} and context = ${value.sealed}`;
    case 'source':
      return tx`
        update sources set configured_props = jsonb_set(configured_props, array[${value.prop}::text, '$sealed'],
          to_jsonb(${sealed}::text))
        where account_id = ${value.accountId} and id = ${value.id}
          and configured_props -> ${value.prop}::text ->> '$sealed' = ${value.sealed}`;
  }
}

function replaceInDeployment(tx: Transaction, value: SealedValue, sealed: string) {
  const dot = value.prop.indexOf('.');
  const [place, prop] = [value.prop.slice(0, dot), value.prop.slice(dot + 1)];
  return tx`
    update deployments
    set steps = jsonb_set(steps, array[${place}, 'configuredProps', ${prop}, '$sealed']::text[], to_jsonb(${sealed}::text))
    where account_id = ${value.accountId} and id = ${value.id}
      and steps -> ${place}::int -> 'configuredProps' -> ${prop}::text ->> '$sealed' = ${value.sealed}`;
}
