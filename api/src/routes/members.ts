import { z } from '@hono/zod-openapi';
import { LIMITS, ROLES } from '@headwater/shared';
import { invitationSchema, memberSchema, newInvitationSchema } from '@headwater/shared/contract';
import { adminEndpoint, emptyEndpoint, type Endpoint, itemEndpoint, listEndpoint } from '../endpoint.ts';
import { pageOf } from '../parameters/given.ts';
import { pageParameters, textParameter } from '../parameters/schemas.ts';
import { presentInvitation, presentMember, presentNewInvitation } from '../resources/member.ts';
import { mapPage, pageWithin } from '../resources/page.ts';

const tag = 'Members';
const pathId = 'The id of the member (`u_…`).';

const role = () => z.enum(ROLES).openapi({ description: 'What the member may do.', example: 'developer' });

const invitationParameters = z.object({
  email: textParameter('maxEmailChars', 3).openapi({
    description: 'Who is invited. The member signs in with it.',
    example: 'ada@example.com',
  }),
  role: role(),
});

const ABOUT_LINK = `The answer has the link, this once. It works once, for ${LIMITS.invitationDays} days. It is mailed too where the operator has set \`HEADWATER_SMTP_URL\`. Another invitation of the same address takes its place.`;

export function memberEndpoints(): Endpoint[] {
  return [listMembers, setRole, removeMember, invite, listInvitations, revokeInvitation, inviteToAccount];
}

const listMembers = listEndpoint({
  method: 'get',
  path: '/v1/members',
  name: 'listMembers',
  tag,
  summary: 'The members of the account, the oldest first',
  description: 'People who sign in. Programs use API keys.',
  parameters: z.object(pageParameters),
  schema: memberSchema,
  handle: async ({ engine, who, input }) =>
    mapPage(
      pageWithin(await engine.people.members(who), ({ id }) => id, pageOf(input)),
      presentMember,
    ),
});

const setRole = itemEndpoint({
  method: 'put',
  path: '/v1/members/{id}',
  name: 'updateMember',
  tag,
  summary: 'Change the role of a member',
  description:
    'It holds within five seconds. Owners are made and changed by owners (403), and the last one stays (409). Invitations that the member has made end.',
  pathId,
  parameters: z.object({ role: role() }),
  schema: memberSchema,
  handle: async ({ engine, who, id, input }) => presentMember(await engine.people.setRole(who, id, input.role)),
});

const removeMember = emptyEndpoint({
  method: 'delete',
  path: '/v1/members/{id}',
  name: 'removeMember',
  tag,
  summary: 'Remove a member, or leave the account',
  description:
    'Sessions reach the account no more, within five seconds. What the member has made stays. Every member may leave; the last owner may not (409).',
  pathId,
  parameters: z.object({
    revoke_keys: z.boolean().default(false).openapi({
      description: 'Also revokes the API keys that the member has made. Programs that use them are refused.',
    }),
  }),
  status: 204,
  handle: async ({ engine, who, id, input }) => engine.people.remove(who, id, { revokeKeys: input.revoke_keys }),
});

const invite = itemEndpoint({
  method: 'post',
  path: '/v1/members/invitations',
  name: 'inviteMember',
  tag,
  summary: 'Invite a person to the account',
  description: `${ABOUT_LINK} Owners are invited by owners, and by an API key as long as there is none (403).`,
  parameters: invitationParameters,
  schema: newInvitationSchema,
  handle: async ({ engine, who, input }) => presentNewInvitation(await engine.people.invite(who, input)),
});

const listInvitations = listEndpoint({
  method: 'get',
  path: '/v1/members/invitations',
  name: 'listInvitations',
  tag,
  summary: 'The invitations that were not accepted yet, newest first',
  description: 'Without their links.',
  parameters: z.object(pageParameters),
  schema: invitationSchema,
  handle: async ({ engine, who, input }) =>
    mapPage(
      pageWithin(await engine.people.invitations(who), ({ id }) => id, pageOf(input)),
      presentInvitation,
    ),
});

const revokeInvitation = emptyEndpoint({
  method: 'delete',
  path: '/v1/members/invitations/{id}',
  name: 'revokeInvitation',
  tag,
  summary: 'Revoke an invitation',
  description: 'Its link works no more.',
  pathId: 'The id of the invitation (`invite_…`).',
  parameters: z.object({}),
  status: 204,
  handle: async ({ engine, who, id }) => engine.people.revokeInvitation(who, id),
});

const inviteToAccount = adminEndpoint({
  method: 'post',
  path: '/v1/accounts/{id}/invitations',
  name: 'inviteToAccount',
  tag: 'Accounts',
  summary: 'Invite a person to an account, such as its first owner',
  description: `Takes the key of the operator (\`HEADWATER_ADMIN_KEY\`), no other. ${ABOUT_LINK}`,
  pathId: 'The id of the account (`o_…`).',
  parameters: invitationParameters,
  schema: newInvitationSchema,
  handle: async ({ engine, id, input }) => presentNewInvitation(await engine.people.inviteTo(id, input)),
});
