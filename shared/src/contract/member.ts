import { z } from 'zod';
import { ROLES } from '../roles.ts';
import { secondsField } from './fields.ts';

const roleField = (description: string) => z.enum(ROLES).meta({ description });

export const memberSchema = z
  .object({
    id: z.string().meta({ description: 'The id of the user in this account.', example: 'u_1vZ8kQ0aB3xYpL9mWc2T' }),
    email: z.string().meta({ description: 'What the member signs in with.', example: 'ada@example.com' }),
    name: z.string().describe('The name of the member.'),
    role: roleField('What the member may do.'),
    joined_at: secondsField('When the invitation was accepted.'),
    last_seen_at: secondsField('When one of the sessions was used last; null: there is none.').nullable(),
  })
  .meta({ id: 'Member' });

export const invitationSchema = z
  .object({
    id: z.string().meta({ description: 'The id of the invitation.', example: 'invite_1vZ8kQ0aB3xYpL9mWc2T' }),
    email: z.string().meta({ description: 'Who is invited.', example: 'ada@example.com' }),
    role: roleField('What the member may do.'),
    invited_by: z.string().meta({ description: 'The user (`u_…`) or key (`key_…`), or `operator`.' }),
    created_at: secondsField('When it was made.'),
    expires_at: secondsField('When its link ends.'),
  })
  .meta({ id: 'Invitation' });

export const newInvitationSchema = invitationSchema
  .extend({
    link: z.string().meta({ description: 'For the one who is invited. Shown this once; it works once.' }),
    mailed: z.boolean().meta({
      description: 'A mail with a link was sent to the address: the operator has set `HEADWATER_SMTP_URL`.',
    }),
  })
  .meta({ id: 'NewInvitation' });

export const userSessionSchema = z
  .object({
    id: z.string().meta({ description: 'The id of the session.', example: 'ses_1vZ8kQ0aB3xYpL9mWc2T' }),
    is_current: z.boolean().meta({ description: 'It is the one of this request.' }),
    address: z.string().nullable().meta({ description: 'From where the member has signed in.' }),
    user_agent: z.string().nullable().meta({ description: 'What the browser has called itself.' }),
    created_at: secondsField('When the member signed in.'),
    last_used_at: secondsField('When it was used last, as of half a minute ago.'),
    expires_at: secondsField('When it ends.'),
  })
  .meta({ id: 'UserSession' });
