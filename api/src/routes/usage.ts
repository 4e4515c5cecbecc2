import { z } from '@hono/zod-openapi';
import { LIMITS } from '@headwater/shared';
import { usageSchema } from '@headwater/shared/contract';
import { adminEndpoint, type Endpoint, itemEndpoint } from '../endpoint.ts';
import { given } from '../parameters/given.ts';
import { momentParameter } from '../parameters/moment.ts';
import { presentUsage } from '../resources/usage.ts';

const tag = 'Usage';

const parameters = z.object({
  since: momentParameter('The range begins with the day of this time. Default: 30 days, with the one of `until`.'),
  until: momentParameter('The range ends with the day of this time. Default: now.'),
});

const EXACTNESS = `Days are in UTC; at most ${LIMITS.maxUsageDays} are answered, and they are kept for ${LIMITS.usageKeptDays}. A node counts with the work and adds what it has counted every 5 seconds, each count once. What a node that is killed had not added is missing, so that there is never too much. \`storage_bytes\` is of looks about once an hour.`;

export function usageEndpoints(): Endpoint[] {
  return [getUsage, getAccountUsage];
}

const getUsage = itemEndpoint({
  method: 'get',
  path: '/v1/usage',
  isCounted: true,
  name: 'getUsage',
  tag,
  summary: 'What the account used, by day',
  description: EXACTNESS,
  parameters,
  schema: usageSchema,
  handle: async ({ engine, who, input }) => presentUsage(await engine.usage.days(who, rangeOf(input))),
});

const getAccountUsage = adminEndpoint({
  method: 'get',
  path: '/v1/accounts/{id}/usage',
  isCounted: true,
  name: 'getAccountUsage',
  tag,
  summary: 'What an account used, by day',
  description: `Takes the key of the operator (\`HEADWATER_ADMIN_KEY\`), no other. ${EXACTNESS}`,
  pathId: 'The id of the account (`o_…`).',
  parameters,
  schema: usageSchema,
  async handle({ engine, id, input }) {
    const account = await engine.accounts.get(id);
    return presentUsage(await engine.usage.days({ accountId: account.id }, rangeOf(input)));
  },
});

function rangeOf({ since, until }: z.output<typeof parameters>) {
  return given({ sinceMs: since, untilMs: until });
}
