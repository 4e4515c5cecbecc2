import { userSchema } from '@headwater/shared/contract';
import { z } from '@hono/zod-openapi';
import { type Endpoint, itemEndpoint } from '../endpoint.ts';
import { presentUser } from '../resources/account.ts';

export function userEndpoints(): Endpoint[] {
  return [
    itemEndpoint({
      method: 'get',
      path: '/v1/users/me',
      name: 'getUser',
      tag: 'Users',
      summary: 'The user whose key this is, with quotas and their use',
      description: 'The first call of a client: it shows whose key it has, and how much more there may be of what.',
      parameters: z.object({}),
      schema: userSchema,
      handle: async ({ engine, who }) => presentUser(await engine.accounts.me(who)),
    }),
  ];
}
