import { useInfiniteQuery, useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api, type Schemas } from '../../api/client.ts';
import { pagesOf } from '../../api/pages.ts';
import { messagesFor } from '../../api/problem.ts';
import { missingRight, useSession } from '../../api/session.ts';
import { Button } from '../../ui/button.tsx';
import { CopyButton } from '../../ui/copy.tsx';
import { Confirm } from '../../ui/dialog.tsx';
import { Empty, ToForm } from '../../ui/empty.tsx';
import { Field, INPUT_CLASS, TextField } from '../../ui/field.tsx';
import { Panel } from '../../ui/page.tsx';
import { Paged } from '../../ui/paged.tsx';
import { ProblemNote } from '../../ui/problem.tsx';
import { RowForm } from '../../ui/row-form.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';

type Member = Schemas['Member'];
type Invitation = Schemas['Invitation'];
type Role = Member['role'];

const ROLES: Record<Role, string> = {
  viewer: 'Viewer: reads',
  developer: 'Developer: deploys and changes',
  admin: 'Admin: also keys and members',
  owner: 'Owner: also owners',
};

const membersQuery = pagesOf(['members'], (query, signal) => api.get('/v1/members', { query, signal }));
const invitationsQuery = pagesOf(['invitations'], (query, signal) =>
  api.get('/v1/members/invitations', { query, signal }),
);

/** The members of the account and the open invitations. */
export function Members() {
  return (
    <div className="flex flex-col gap-4">
      <Invite />
      <MemberList />
      <Invitations />
    </div>
  );
}

function MemberList() {
  const list = useInfiniteQuery(membersQuery);
  const [removed, setRemoved] = useState<Member>();
  const [revokeKeys, setRevokeKeys] = useState(false);
  const ownId = useSession()?.user_id;
  const queries = useQueryClient();
  const refresh = () => queries.invalidateQueries({ queryKey: ['members'] });
  const changing = useMutation({
    mutationFn: ({ id, role }: { id: string; role: Role }) =>
      api.put('/v1/members/{id}', { path: { id }, body: { role } }),
    onSettled: refresh,
  });
  const removing = useMutation({
    mutationFn: (id: string) => api.delete('/v1/members/{id}', { path: { id }, body: { revoke_keys: revokeKeys } }),
    onSuccess: async () => {
      setRemoved(undefined);
      await refresh();
    },
  });
  const reason = missingRight('members');
  const columns: readonly Column<Member>[] = [
    {
      header: 'E-mail',
      cell: ({ email }) => <span className="font-medium">{email}</span>,
      wraps: true,
    },
    { header: 'Name', cell: ({ name }) => name, wide: true },
    {
      header: 'Role',
      cell: (member) => (
        <RoleSelect
          label={`Role of ${member.email}`}
          value={member.role}
          reason={reason}
          onChange={(role) => changing.mutate({ id: member.id, role })}
        />
      ),
      className: 'w-40 @max-2xl:w-32',
    },
    {
      header: 'Last seen',
      cell: ({ last_seen_at: at }) => (at === null ? 'never' : <Time atMs={at * 1000} />),
      className: 'w-28 text-ink-soft',
      wide: true,
    },
    {
      header: 'Remove',
      cell: (member) => (
        <Button
          kind="danger"
          size="small"
          needs={member.id === ownId ? null : 'members'}
          aria-label={member.id === ownId ? 'Leave the account' : `Remove ${member.email}`}
          onClick={() => setRemoved(member)}
        >
          {member.id === ownId ? 'Leave' : 'Remove'}
        </Button>
      ),
      className: 'w-24',
    },
  ];
  const rows = list.data?.pages.flatMap(({ data }) => data) ?? [];
  return (
    <>
      <ProblemNote error={changing.error} />
      <Paged
        list={list}
        title="Members"
        count={rows.length}
        empty={
          <Empty
            icon="operator"
            title="No members yet"
            command="hw members invite ada@example.com"
            action={<ToForm form="invite">Invite the first one</ToForm>}
          >
            A member signs in by e-mail, with a role. Until one is invited, only API keys work here.
          </Empty>
        }
      >
        <Table label="Members" columns={columns} rows={rows} keyOf={({ id }) => id} />
      </Paged>
      <Confirm
        open={removed !== undefined}
        onClose={() => setRemoved(undefined)}
        title={`Remove ${removed?.email ?? ''}?`}
        action="Remove member"
        needs={removed?.id === ownId ? null : 'members'}
        busy={removing.isPending}
        onConfirm={() => removed !== undefined && removing.mutate(removed.id)}
      >
        Sessions of this member reach the account no more. What the member has made stays.
        <label className="mt-3 flex items-center gap-2">
          <input type="checkbox" checked={revokeKeys} onChange={({ target }) => setRevokeKeys(target.checked)} />
          Also revoke the API keys that this member has made
        </label>
        <ProblemNote error={removing.error} />
      </Confirm>
    </>
  );
}

function RoleSelect(props: { label: string; value: Role; reason: string | undefined; onChange: (role: Role) => void }) {
  return (
    <select
      aria-label={props.label}
      className={INPUT_CLASS}
      value={props.value}
      disabled={props.reason !== undefined}
      title={props.reason}
      onChange={({ target }) => props.onChange(target.value as Role)}
    >
      {Object.keys(ROLES).map((role) => (
        <option key={role} value={role}>
          {role}
        </option>
      ))}
    </select>
  );
}

function Invite() {
  const [email, setEmail] = useState('');
  const [role, setRole] = useState<Role>('developer');
  const queries = useQueryClient();
  const inviting = useMutation({
    mutationFn: () => api.post('/v1/members/invitations', { body: { email, role } }),
    onSuccess: () => {
      setEmail('');
      return queries.invalidateQueries({ queryKey: ['invitations'] });
    },
  });
  const made = inviting.data?.data;
  return (
    <Panel title="Invite a member">
      <RowForm id="invite" onSubmit={() => inviting.mutate()} error={inviting.error}>
        <TextField
          label="E-mail of the member"
          type="email"
          required
          value={email}
          onChange={({ target }) => setEmail(target.value)}
          errors={messagesFor(inviting.error, 'email')}
          placeholder="ada@example.com"
        />
        <Field label="Role">
          {(ids) => (
            <select
              {...ids}
              className={INPUT_CLASS}
              value={role}
              onChange={({ target }) => setRole(target.value as Role)}
            >
              {Object.entries(ROLES).map(([value, text]) => (
                <option key={value} value={value}>
                  {text}
                </option>
              ))}
            </select>
          )}
        </Field>
        <Button type="submit" kind="primary" needs="members" busy={inviting.isPending} disabled={email === ''}>
          Invite
        </Button>
        {made !== undefined && (
          <p
            role="status"
            className="flex basis-full flex-wrap items-center gap-1 rounded-md bg-good-soft px-3 py-2 text-sm"
          >
            {made.mailed ? 'A mail is on its way. ' : ''}Send this link to {made.email}; it is not shown again and works
            once: <code className="font-mono break-all">{made.link}</code>
            <CopyButton text={made.link} what="invitation link" />
          </p>
        )}
      </RowForm>
    </Panel>
  );
}

function Invitations() {
  const list = useInfiniteQuery(invitationsQuery);
  const queries = useQueryClient();
  const revoking = useMutation({
    mutationFn: (id: string) => api.delete('/v1/members/invitations/{id}', { path: { id } }),
    onSettled: () => queries.invalidateQueries({ queryKey: ['invitations'] }),
  });
  const columns: readonly Column<Invitation>[] = [
    { header: 'E-mail', cell: ({ email }) => <span className="font-medium">{email}</span> },
    { header: 'Role', cell: ({ role }) => role, className: 'w-28' },
    {
      header: 'Expires',
      cell: ({ expires_at: at }) => <Time atMs={at * 1000} />,
      className: 'w-28 text-ink-soft',
      wide: true,
    },
    {
      header: 'Revoke',
      cell: ({ id, email }) => (
        <Button
          kind="danger"
          size="small"
          needs="members"
          aria-label={`Revoke the invitation of ${email}`}
          onClick={() => revoking.mutate(id)}
        >
          Revoke
        </Button>
      ),
      className: 'w-24',
    },
  ];
  const rows = list.data?.pages.flatMap(({ data }) => data) ?? [];
  if (rows.length === 0) return null;
  return (
    <>
      <ProblemNote error={revoking.error} />
      <Paged list={list} title="Invitations" count={rows.length} empty={null}>
        <Table label="Invitations" columns={columns} rows={rows} keyOf={({ id }) => id} />
      </Paged>
    </>
  );
}
