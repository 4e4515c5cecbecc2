import { z } from '@hono/zod-openapi';
import { adminEndpoint, adminListEndpoint, type Endpoint } from '../endpoint.ts';
import { given, pageOf } from '../parameters/given.ts';
import { pageParameters, textParameter } from '../parameters/schemas.ts';
import {
  accountEmailSchema,
  accountSummarySchema,
  newAccountSchema,
  presentAccountSummary,
} from '../resources/account.ts';
import { mapPage } from '../resources/page.ts';

const email = () => textParameter('maxEmailChars').regex(/^[^@\s]+@[^@\s]+$/, 'must be an e-mail address');

export function accountEndpoints(): Endpoint[] {
  return [
    adminEndpoint({
      method: 'post',
      path: '/v1/accounts',
      name: 'createAccount',
      tag: 'Accounts',
      summary: 'Make an account with its first user and key',
      description: 'Takes the key of the operator (`HEADWATER_ADMIN_KEY`), no other.',
      parameters: z.object({
        name: textParameter('maxNameChars', 1).describe('The name of the account.'),
        email: email().optional().describe('Where `$.send.email` sends to. Default: nowhere.'),
      }),
      schema: newAccountSchema,
      handle: async ({ engine, input }) => {
        const made = await engine.accounts.create(given({ name: input.name, email: input.email }));
        return { id: made.account.id, name: made.account.name, user_id: made.user.id, api_key: made.apiKey };
      },
    }),
    adminEndpoint({
      method: 'put',
      path: '/v1/accounts/{id}',
      name: 'setAccountEmail',
      tag: 'Accounts',
      summary: 'Set the e-mail address of an account, where `$.send.email` sends to',
      description:
        'Takes the key of the operator (`HEADWATER_ADMIN_KEY`), no other: nobody has shown that the address is theirs.',
      pathId: 'The id of the account (`o_…`).',
      parameters: z.object({
        email: email().nullable().openapi({ description: 'null removes it.' }),
      }),
      schema: accountEmailSchema,
      handle: async ({ engine, id, input }) => {
        const account = await engine.accounts.setEmail(id, input.email);
        return { id: account.id, name: account.name, email: account.email ?? null };
      },
    }),
    adminListEndpoint({
      method: 'get',
      path: '/v1/accounts',
      name: 'listAccounts',
      tag: 'Accounts',
      summary: 'All accounts, newest first',
      description: 'Takes the key of the operator (`HEADWATER_ADMIN_KEY`), no other.',
      parameters: z.object(pageParameters),
      schema: accountSummarySchema,
      handle: async ({ engine, input }) => mapPage(await engine.accounts.list(pageOf(input)), presentAccountSummary),
    }),
  ];
}
