import { z } from '@hono/zod-openapi';
import { LIMITS } from '@headwater/shared';
import { userSchema, userSessionSchema } from '@headwater/shared/contract';
import { emptyEndpoint, type Endpoint, itemEndpoint, listEndpoint } from '../endpoint.ts';
import { pageOf } from '../parameters/given.ts';
import { pageParameters } from '../parameters/schemas.ts';
import { presentUser } from '../resources/account.ts';
import { presentUserSession } from '../resources/member.ts';
import { mapPage, pageWithin } from '../resources/page.ts';

const tag = 'Users';

export function userEndpoints(): Endpoint[] {
  return [getUser, listSessions, endSession, changePassword];
}

const getUser = itemEndpoint({
  method: 'get',
  path: '/v1/users/me',
  name: 'getUser',
  tag,
  summary: 'The user whose key or session this is, with quotas and their use',
  description:
    'The first call of a client: it shows whose key it has, and how much more there may be of what. A key with the scope `webhooks` alone sees no address.',
  parameters: z.object({}),
  schema: userSchema,
  handle: async ({ engine, who }) => {
    const shown = presentUser(await engine.accounts.me(who));
    // A customer has the key of a portal link, which a member of the account may have made.
    return who.scopes?.every((scope) => scope === 'webhooks') === true ? { ...shown, email: null } : shown;
  },
});

const listSessions = listEndpoint({
  method: 'get',
  path: '/v1/users/me/sessions',
  name: 'listSessions',
  tag,
  summary: 'Your sessions, newest first',
  description: 'Of the member who is signed in, in all accounts. An API key has none.',
  parameters: z.object(pageParameters),
  schema: userSessionSchema,
  handle: async ({ engine, who, input }) =>
    mapPage(
      pageWithin(await engine.people.sessions(who), ({ id }) => id, pageOf(input)),
      (session) => presentUserSession(session, who.member?.sessionId),
    ),
});

const endSession = emptyEndpoint({
  method: 'delete',
  path: '/v1/users/me/sessions/{id}',
  name: 'endSession',
  tag,
  summary: 'End one of your sessions',
  description: 'It is refused at once on this node, and within five seconds on others.',
  pathId: 'The id of the session (`ses_…`).',
  parameters: z.object({}),
  status: 204,
  handle: async ({ engine, who, id }) => engine.people.endSession(who, id),
});

const password = () => z.string().max(LIMITS.maxPasswordChars);

const changePassword = emptyEndpoint({
  method: 'put',
  path: '/v1/users/me/password',
  name: 'changePassword',
  tag,
  summary: 'Change your password',
  description: 'Ends all your other sessions. Answers 403 for an API key, and 429 as sign-in does.',
  parameters: z.object({
    current_password: password().openapi({ description: 'The one that you have.' }),
    password: password().openapi({ description: `The new one, of at least ${LIMITS.minPasswordChars} characters.` }),
  }),
  status: 204,
  handle: async ({ engine, who, input }) =>
    engine.people.changePassword(who, { current: input.current_password, next: input.password }),
});
