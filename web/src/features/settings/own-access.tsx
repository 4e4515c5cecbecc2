import { useInfiniteQuery, useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api, type Schemas } from '../../api/client.ts';
import { pagesOf } from '../../api/pages.ts';
import { messagesFor } from '../../api/problem.ts';
import { Button } from '../../ui/button.tsx';
import { TextField } from '../../ui/field.tsx';
import { Panel } from '../../ui/page.tsx';
import { Paged } from '../../ui/paged.tsx';
import { ProblemNote } from '../../ui/problem.tsx';
import { RowForm } from '../../ui/row-form.tsx';
import { Passkeys } from './passkeys.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';

type UserSession = Schemas['UserSession'];

const sessionsQuery = pagesOf(['own-sessions'], (query, signal) => api.get('/v1/users/me/sessions', { query, signal }));

/** The password, the passkeys and the sessions of the member who is signed in. */
export function OwnAccess() {
  return (
    <div className="flex flex-col gap-4">
      <ChangePassword />
      <Passkeys />
      <Sessions />
    </div>
  );
}

function ChangePassword() {
  const [current, setCurrent] = useState('');
  const [next, setNext] = useState('');
  const queries = useQueryClient();
  const changing = useMutation({
    mutationFn: () => api.put('/v1/users/me/password', { body: { current_password: current, password: next } }),
    onSuccess: () => {
      setCurrent('');
      setNext('');
      return queries.invalidateQueries({ queryKey: ['own-sessions'] });
    },
  });
  return (
    <Panel title="Password">
      <RowForm onSubmit={() => changing.mutate()} error={changing.error}>
        <TextField
          label="Current password"
          type="password"
          autoComplete="current-password"
          required
          value={current}
          onChange={({ target }) => setCurrent(target.value)}
          errors={messagesFor(changing.error, 'current_password')}
        />
        <TextField
          label="New password"
          type="password"
          autoComplete="new-password"
          required
          value={next}
          onChange={({ target }) => setNext(target.value)}
          errors={messagesFor(changing.error, 'password')}
        />
        <Button
          type="submit"
          kind="primary"
          needs={null}
          busy={changing.isPending}
          disabled={current === '' || next === ''}
        >
          Change password
        </Button>
        <p className="basis-full text-sm text-ink-soft" role="status">
          {changing.isSuccess ? 'Your password is changed, and your other sessions have ended.' : ''}
        </p>
      </RowForm>
    </Panel>
  );
}

function Sessions() {
  const list = useInfiniteQuery(sessionsQuery);
  const queries = useQueryClient();
  const ending = useMutation({
    mutationFn: (id: string) => api.delete('/v1/users/me/sessions/{id}', { path: { id } }),
    onSettled: () => queries.invalidateQueries({ queryKey: ['own-sessions'] }),
  });
  const columns: readonly Column<UserSession>[] = [
    { header: 'Browser', cell: ({ user_agent: agent }) => agent ?? 'unknown' },
    { header: 'From', cell: ({ address }) => address ?? '', className: 'w-40', wide: true },
    {
      header: 'Signed in',
      cell: ({ created_at: at }) => <Time atMs={at * 1000} />,
      className: 'w-28 text-ink-soft',
      wide: true,
    },
    {
      header: 'Last used',
      cell: ({ last_used_at: at }) => <Time atMs={at * 1000} />,
      className: 'w-28 text-ink-soft',
    },
    {
      header: 'End',
      cell: ({ id, is_current: isCurrent }) =>
        isCurrent ? (
          'this one'
        ) : (
          <Button kind="danger" size="small" needs={null} onClick={() => ending.mutate(id)}>
            End
          </Button>
        ),
      className: 'w-24',
    },
  ];
  const rows = list.data?.pages.flatMap(({ data }) => data) ?? [];
  return (
    <>
      <ProblemNote error={ending.error} />
      <Paged list={list} title="Sessions" count={rows.length} empty={null}>
        <Table label="Sessions" columns={columns} rows={rows} keyOf={({ id }) => id} />
      </Paged>
    </>
  );
}
