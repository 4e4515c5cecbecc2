import {
  accountDeletionSchema,
  accountSummarySchema,
  newAccountSchema,
  newApiKeySchema,
} from '@headwater/shared/contract';
import { z } from '@hono/zod-openapi';
import { adminEndpoint, adminListEndpoint, type Endpoint } from '../endpoint.ts';
import { given, pageOf } from '../parameters/given.ts';
import { idParameter, pageParameters, textParameter } from '../parameters/schemas.ts';
import { presentAccountDeletion, presentAccountSummary, presentApiKey } from '../resources/account.ts';
import { mapPage } from '../resources/page.ts';
import { keyParameters, newKeyOf } from './api-keys.ts';

const tag = 'Accounts';
const path = '/v1/tenants/{id}';
const pathId = 'The id of the account (`o_…`).';
const OPERATOR = 'Takes the key of the operator (`HEADWATER_ADMIN_KEY`), no other.';

const email = () => textParameter('maxEmailChars').regex(/^[^@\s]+@[^@\s]+$/, 'must be an e-mail address');

const ownedParameters = {
  endpoint_key: idParameter('Only the account of this endpoint: the key in its URL.').optional(),
  execution_id: idParameter('Only the account of this execution (`exec_…`).').optional(),
  api_key_sha256: z
    .string()
    .regex(/^[0-9a-f]{64}$/, 'must be a SHA-256 in lower-case hex')
    .optional()
    .openapi({ description: 'Only the account of this API key, by the SHA-256 of the key in hex.' }),
};

/** `accounts`: the older names, whose `/{id}` is taken by connected accounts. */
const LISTS = [
  { path: '/v1/tenants', suffix: 'Tenant' },
  { path: '/v1/accounts', suffix: 'Account' },
] as const;

export function accountEndpoints(): Endpoint[] {
  return [
    ...LISTS.flatMap((list) => [createAt(list), listAt(list)]),
    getAccount,
    updateAt(path, 'updateTenant'),
    updateAt('/v1/accounts/{id}', 'updateAccount'),
    suspensionEndpoint('suspend'),
    suspensionEndpoint('resume'),
    createKeyOfAccount,
    deleteAccount,
  ];
}

function createAt(list: (typeof LISTS)[number]): Endpoint {
  return adminEndpoint({
    method: 'post',
    path: list.path,
    name: `create${list.suffix}`,
    tag,
    summary: 'Make an account with its first user and key',
    description: OPERATOR,
    parameters: z.object({
      name: textParameter('maxNameChars', 1).describe('The name of the account.'),
      email: email().optional().describe('Where `$.send.email` sends to. Default: nowhere.'),
    }),
    schema: newAccountSchema,
    handle: async ({ engine, input }) => {
      const made = await engine.accounts.create(given({ name: input.name, email: input.email }));
      return { id: made.account.id, name: made.account.name, user_id: made.user.id, api_key: made.apiKey };
    },
  });
}

function listAt(list: (typeof LISTS)[number]): Endpoint {
  return adminListEndpoint({
    method: 'get',
    path: list.path,
    name: `list${list.suffix}s`,
    tag,
    summary: 'All accounts, newest first, with what each has',
    description: `${OPERATOR} Where something of an account is named, the list has that account, or none.`,
    parameters: z.object({ ...pageParameters, ...ownedParameters }),
    schema: accountSummarySchema,
    async handle({ engine, input }) {
      const { endpoint_key: endpointKey, execution_id: executionId, api_key_sha256: apiKeySha256 } = input;
      const request = { ...pageOf(input), ...given({ endpointKey, executionId, apiKeySha256 }) };
      return mapPage(await engine.accounts.list(request), presentAccountSummary);
    },
  });
}

const getAccount = adminEndpoint({
  method: 'get',
  path,
  name: 'getTenant',
  tag,
  summary: 'An account, with what it has',
  description: OPERATOR,
  pathId,
  parameters: z.object({}),
  schema: accountSummarySchema,
  handle: async ({ engine, id }) => presentAccountSummary(await engine.accounts.get(id)),
});

function updateAt(at: string, name: string): Endpoint {
  return adminEndpoint({
    method: 'put',
    path: at,
    name,
    tag,
    summary: 'Rename an account, or set its e-mail address, where `$.send.email` sends to',
    description: `${OPERATOR} Nobody has shown that the address is theirs.`,
    pathId,
    parameters: z.object({
      name: textParameter('maxNameChars', 1).optional().describe('Its new name.'),
      email: email().nullable().optional().openapi({ description: 'null removes it.' }),
    }),
    schema: accountSummarySchema,
    handle: async ({ engine, id, input: { name: word, email: address } }) => {
      const change = {
        ...(word === undefined ? {} : { name: word }),
        ...(address === undefined ? {} : { email: address }),
      };
      return presentAccountSummary(await engine.accounts.update(id, change));
    },
  });
}

const SUSPENSION = {
  suspend: {
    summary: 'Suspend an account: nothing of it is lost, and nothing of it goes on',
    description: `${OPERATOR} Its endpoints answer 503 with \`retry-after\`, its keys change nothing (403), its timers do not fire, and what it has to run and to deliver waits. What runs ends.`,
  },
  resume: {
    summary: 'Resume a suspended account: what has waited goes on',
    description: `${OPERATOR} Timers fire again at their next time.`,
  },
};

function suspensionEndpoint(action: 'suspend' | 'resume'): Endpoint {
  return adminEndpoint({
    method: 'post',
    path: `${path}/${action}`,
    name: `${action}Tenant`,
    tag,
    ...SUSPENSION[action],
    pathId,
    parameters: z.object({}),
    schema: accountSummarySchema,
    handle: async ({ engine, id }) => presentAccountSummary(await engine.accounts.suspend(id, action === 'suspend')),
  });
}

const createKeyOfAccount = adminEndpoint({
  method: 'post',
  path: `${path}/api_keys`,
  name: 'createTenantKey',
  tag,
  summary: 'Make another key of an account, such as for a tenant that has lost its own',
  description: OPERATOR,
  pathId,
  parameters: keyParameters,
  schema: newApiKeySchema,
  handle: async ({ engine, id, input }) => {
    const made = await engine.accounts.createKeyOf(id, newKeyOf(input));
    return { ...presentApiKey(made.record), api_key: made.apiKey };
  },
});

const deleteAccount = adminEndpoint({
  method: 'delete',
  path,
  name: 'deleteTenant',
  tag,
  summary: 'Delete an account with everything that it has',
  description: `${OPERATOR} Its keys and endpoints are gone at once; a job deletes code, secrets, events, history and the account itself, and goes on after a crash. Ask again to see how far it is. It cannot be taken back.`,
  pathId,
  parameters: z.object({}),
  schema: accountDeletionSchema,
  handle: async ({ engine, id }) => presentAccountDeletion(await engine.accounts.delete(id)),
});
