import { ROLES } from '@headwater/shared';
import { type CommandSpec, NAMING_EXITS, SERVER_EXITS } from '../command.ts';
import { CliError } from '../cli-error.ts';
import type { ApiClient } from '../api/client.ts';
import { ofSeconds } from '../terminal/describe-time.ts';
import { confirmDeletion, YES } from './delete.ts';

interface Member {
  id: string;
  email: string;
  name: string;
  role: string;
  joined_at: number;
  last_seen_at: number | null;
}

interface Invitation {
  id: string;
  email: string;
  role: string;
  invited_by: string;
  created_at: number;
  expires_at: number;
}

const MEMBER = { name: 'member', summary: 'Its id (`u_…`) or e-mail address.' };

const listMembers: CommandSpec = {
  path: 'members list',
  aliases: ['ls'],
  summary: 'The members of the account, and what each may do',
  examples: [{ does: 'All of them', command: 'hw members list' }],
  json: 'an array of { id, email, name, role, joined_at, last_seen_at }',
  exits: SERVER_EXITS,
  async run({ api, output }) {
    const rows = await (await api()).all<Member>('/members');
    if (rows.length === 0) output.note('Nobody yet. Invite the first owner: hw members invite <email> --role owner');
    const text = output.table(rows, [
      { title: 'EMAIL', value: (row) => row.email },
      { title: 'NAME', value: (row) => row.name },
      { title: 'ROLE', value: (row) => row.role },
      { title: 'ID', whole: true, value: (row) => row.id },
      { title: 'JOINED', value: (row) => ofSeconds(row.joined_at) },
      { title: 'LAST SEEN', value: (row) => (row.last_seen_at === null ? 'never' : ofSeconds(row.last_seen_at)) },
    ]);
    return { json: rows, text: rows.length === 0 ? '' : text };
  },
};

const invite: CommandSpec = {
  path: 'members invite',
  summary: 'Invite a person to the account',
  details:
    'Prints a link for that person, this once. It works once, and is mailed too where the server has SMTP. Roles: `viewer` reads, `developer` deploys and changes, `admin` also has keys and members, `owner` also owners.',
  arguments: [{ name: 'email', summary: 'Who is invited.' }],
  options: [
    { name: 'role', value: 'role', choices: ROLES, summary: 'What the member may do. Default: developer.' },
    { name: 'account', value: 'id', summary: 'To which account, with the key of the operator. Default: your own.' },
  ],
  examples: [
    { does: 'A developer', command: 'hw members invite ada@example.com' },
    {
      does: 'The first owner of an account, as the operator',
      command: 'hw members invite ada@example.com --role owner --account o_1vZ8kQ0aB3xYpL9mWc2T',
    },
  ],
  json: 'the invitation with its link, as `POST /v1/members/invitations` answers it',
  exits: SERVER_EXITS,
  async run({ api, input }) {
    const account = input.text('account');
    const path =
      account === undefined ? '/members/invitations' : `/accounts/${encodeURIComponent(account)}/invitations`;
    const body = { email: input.argument('email'), role: input.text('role') ?? 'developer' };
    const made = await (await api()).send<Invitation & { link: string; mailed: boolean }>('POST', path, body);
    const mailed = made.mailed ? ' A mail is on its way, too.' : '';
    const text = `${made.email} is invited as ${made.role} until ${ofSeconds(made.expires_at)}.${mailed} The link is not shown again:\n${made.link}`;
    return { json: made, text, quiet: made.link };
  },
};

const setRole: CommandSpec = {
  path: 'members role',
  summary: 'Change the role of a member',
  arguments: [MEMBER, { name: 'role', summary: `One of ${ROLES.join(', ')}.` }],
  examples: [{ does: 'Make an admin', command: 'hw members role ada@example.com admin' }],
  json: 'the member, as `PUT /v1/members/{id}` answers it',
  exits: NAMING_EXITS,
  async run({ api: connect, input }) {
    const api = await connect();
    const { id } = await findMember(api, input.argument('member'));
    const body = { role: input.argument('role') };
    const changed = await api.send<Member>('PUT', `/members/${encodeURIComponent(id)}`, body);
    return { json: changed, text: `${changed.email} is ${changed.role} now.`, quiet: '' };
  },
};

const remove: CommandSpec = {
  path: 'members remove',
  aliases: ['rm'],
  summary: 'Remove a member from the account; what the member has made stays',
  arguments: [MEMBER],
  options: [YES, { name: 'revoke-keys', summary: 'Also revoke the API keys that the member has made.' }],
  examples: [{ does: 'With the keys', command: 'hw members remove ada@example.com --revoke-keys -y' }],
  json: '{ id, removed }',
  exits: NAMING_EXITS,
  async run(context) {
    const { input } = context;
    const api = await context.api();
    const { id, email } = await findMember(api, input.argument('member'));
    await confirmDeletion(context, `Remove ${email} from the account?`);
    const body = input.flag('revoke-keys') ? { revoke_keys: true } : {};
    await api.send('DELETE', `/members/${encodeURIComponent(id)}`, body);
    return { json: { id, removed: true }, text: `${email} is removed.`, quiet: '' };
  },
};

/** The member with this id or e-mail address. */
export async function findMember(api: ApiClient, word: string): Promise<Member> {
  const members = await api.all<Member>('/members');
  const found = members.find(({ id, email }) => id === word || email === word.trim().toLowerCase());
  if (found !== undefined) return found;
  throw new CliError('notFound', `No member ${word} in this account`, {
    hint: 'List them with: hw members list',
  });
}

const listInvitations: CommandSpec = {
  path: 'invitations list',
  aliases: ['ls'],
  summary: 'The invitations that were not accepted yet, without their links',
  examples: [{ does: 'All of them', command: 'hw invitations list' }],
  json: 'an array of { id, email, role, invited_by, created_at, expires_at }',
  exits: SERVER_EXITS,
  async run({ api, output }) {
    const rows = await (await api()).all<Invitation>('/members/invitations');
    const text = output.table(rows, [
      { title: 'EMAIL', value: (row) => row.email },
      { title: 'ROLE', value: (row) => row.role },
      { title: 'ID', whole: true, value: (row) => row.id },
      { title: 'BY', value: (row) => row.invited_by },
      { title: 'EXPIRES', value: (row) => ofSeconds(row.expires_at) },
    ]);
    return { json: rows, text };
  },
};

const revokeInvitation: CommandSpec = {
  path: 'invitations revoke',
  aliases: ['rm'],
  summary: 'Revoke an invitation: its link works no more',
  arguments: [{ name: 'id', summary: 'The id of the invitation (`invite_…`).' }],
  examples: [{ does: 'One', command: 'hw invitations revoke invite_1vZ8kQ0aB3xYpL9mWc2T' }],
  json: '{ id, revoked }',
  exits: NAMING_EXITS,
  async run({ api, input }) {
    const id = input.argument('id');
    await (await api()).send('DELETE', `/members/invitations/${encodeURIComponent(id)}`);
    return { json: { id, revoked: true }, text: `${id} is revoked.`, quiet: '' };
  },
};

export const memberCommands: readonly CommandSpec[] = [
  listMembers,
  invite,
  setRole,
  remove,
  listInvitations,
  revokeInvitation,
];
