import { z } from '@hono/zod-openapi';
import { LIMITS } from '@headwater/shared';
import { begunPasskeySchema, createdPasskeySchema, passkeySchema } from '@headwater/shared/contract';
import { emptyEndpoint, type Endpoint, itemEndpoint, listEndpoint } from '../endpoint.ts';
import { pageOf } from '../parameters/given.ts';
import { pageParameters, textParameter } from '../parameters/schemas.ts';
import { checkCreated } from '../passkeys/check-passkey.ts';
import { creationOptions, MAX_FLOW_CHARS } from '../passkeys/options.ts';
import { requireRelyingParty } from '../passkeys/relying-party.ts';
import { presentPasskey } from '../resources/member.ts';
import { mapPage, pageWithin } from '../resources/page.ts';

const tag = 'Users';
const pathId = 'The id of the passkey (`psk_…`).';
const path = '/v1/users/me/passkeys';

const nameParameter = () =>
  textParameter('maxNameChars', 1).openapi({ description: 'What you call it.', example: 'Laptop' });

/** `publicUrl`: as in AppOptions. */
export function passkeyEndpoints(publicUrl: string): Endpoint[] {
  return [listPasskeys, beginPasskey(publicUrl), addPasskey(publicUrl), renamePasskey, removePasskey];
}

const listPasskeys = listEndpoint({
  method: 'get',
  path,
  name: 'listPasskeys',
  tag,
  summary: 'Your passkeys, newest first',
  description: 'Of the member who is signed in, in all accounts. An API key has none.',
  parameters: z.object(pageParameters),
  schema: passkeySchema,
  handle: async ({ engine, who, input }) =>
    mapPage(
      pageWithin(await engine.people.passkeys(who), ({ id }) => id, pageOf(input)),
      presentPasskey,
    ),
});

const beginPasskey = (publicUrl: string) =>
  itemEndpoint({
    method: 'post',
    path: `${path}/options`,
    name: 'beginPasskey',
    tag,
    summary: 'Begin to add a passkey',
    description: `For browsers: \`options\` go to \`navigator.credentials.create\`. A session that is older than ${LIMITS.newPasskeyMinutes} minutes needs the password as well. Answers 409 where the server has no name that browsers make passkeys for, 403 for an API key, and 429 as sign-in does.`,
    parameters: z.object({
      current_password: z
        .string()
        .max(LIMITS.maxPasswordChars)
        .optional()
        .openapi({ description: `Your password. Not needed in the first ${LIMITS.newPasskeyMinutes} minutes.` }),
    }),
    schema: begunPasskeySchema,
    handle: async ({ engine, who, input }) => {
      const party = requireRelyingParty(publicUrl);
      const { flow, ...adding } = await engine.people.beginPasskey(who, input.current_password);
      return { flow, options: { ...creationOptions(party, adding) } };
    },
  });

const addPasskey = (publicUrl: string) =>
  itemEndpoint({
    method: 'post',
    path,
    name: 'addPasskey',
    tag,
    summary: 'Add the passkey that the browser has made',
    description: `It has to verify its person, and to be one that can be found without a name. A person has at most ${LIMITS.maxPasskeys} (409).`,
    parameters: z.object({
      flow: z.string().max(MAX_FLOW_CHARS).openapi({ description: 'As it was begun with, in the same session.' }),
      name: nameParameter(),
      response: createdPasskeySchema,
    }),
    schema: passkeySchema,
    handle: async ({ engine, who, input: { flow, name, response } }) => {
      const party = requireRelyingParty(publicUrl);
      const check = (challenge: string) => checkCreated(party, response, challenge);
      return presentPasskey(await engine.people.addPasskey(who, { flow, name }, check));
    },
  });

const renamePasskey = itemEndpoint({
  method: 'put',
  path: `${path}/{id}`,
  name: 'renamePasskey',
  tag,
  summary: 'Rename one of your passkeys',
  description: 'Your devices go on to show it as they did.',
  pathId,
  parameters: z.object({ name: nameParameter() }),
  schema: passkeySchema,
  handle: async ({ engine, who, id, input }) => presentPasskey(await engine.people.renamePasskey(who, id, input.name)),
});

const removePasskey = emptyEndpoint({
  method: 'delete',
  path: `${path}/{id}`,
  name: 'removePasskey',
  tag,
  summary: 'Remove one of your passkeys',
  description: 'It does not sign in any more. Sessions that it began go on until they are ended.',
  pathId,
  parameters: z.object({}),
  status: 204,
  handle: async ({ engine, who, id }) => engine.people.removePasskey(who, id),
});
