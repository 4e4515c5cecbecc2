import { z } from '@hono/zod-openapi';
import { ACCOUNT_LIMITS } from '@headwater/shared';
import type { AccountLimitsRecord } from '@headwater/engine';
import { accountLimitsSchema } from '@headwater/shared/contract';
import { type Endpoint, itemEndpoint, versionedAdminEndpoint } from '../endpoint.ts';
import { fieldParameters } from '../parameters/schemas.ts';
import { presentAccountLimits } from '../resources/account-limits.ts';

const pathId = 'The id of the account (`o_…`).';
const path = '/v1/accounts/{id}/limits';
const tag = 'Accounts';

/** Described here, judged by the engine: it reports wrong names and wrong values together. */
const settableLimits = z.object(
  Object.fromEntries(
    Object.entries(ACCOUNT_LIMITS).map(([name, { default: value, min, max, unit, why }]) => [
      name,
      z
        .unknown()
        .optional()
        .openapi({
          type: ['integer', 'null'],
          minimum: min,
          maximum: max,
          description: `A limit on ${why} (${unit}). Default: ${value}.`,
        }),
    ]),
  ),
);

export function accountLimitEndpoints(): Endpoint[] {
  return [getLimits, setLimits, getOwnLimits];
}

const getLimits = versionedAdminEndpoint({
  method: 'get',
  path,
  name: 'getAccountLimits',
  tag,
  summary: 'The limits of an account',
  description: 'Takes the key of the operator. `etag` is for `if-match` of a change.',
  pathId,
  parameters: z.object({}),
  schema: accountLimitsSchema,
  handle: async ({ engine, id }) => tagged(await engine.accounts.limits(id)),
});

const setLimits = versionedAdminEndpoint({
  method: 'put',
  path,
  name: 'setAccountLimits',
  tag,
  summary: 'Set limits of an account',
  description:
    'Takes the key of the operator. A number sets a limit, null takes back what was set, and what is not given stays. Holds at once for everything that starts from now on.',
  pathId,
  parameters: settableLimits.catchall(z.unknown()),
  takesAnyName: true,
  schema: accountLimitsSchema,
  handle: async ({ engine, id, input, condition }) => {
    const change = Object.entries(input).filter(([name]) => !Object.hasOwn(fieldParameters, name));
    return tagged(await engine.accounts.setLimits(id, Object.fromEntries(change), condition));
  },
});

const getOwnLimits = itemEndpoint({
  method: 'get',
  path: '/v1/users/me/limits',
  name: 'getOwnLimits',
  tag: 'Users',
  summary: 'The limits of the account whose key this is',
  description: 'The limits that hold for the account, those that the operator has set, and the defaults.',
  parameters: z.object({}),
  schema: accountLimitsSchema,
  handle: async ({ engine, who }) => presentAccountLimits(await engine.accounts.limits(who.accountId)),
});

function tagged(record: AccountLimitsRecord) {
  return { item: presentAccountLimits(record), revision: record.tag };
}
