import { useInfiniteQuery, useMutation, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { api, type Schemas } from '../../api/client.ts';
import { pagesOf } from '../../api/pages.ts';
import { messagesFor } from '../../api/problem.ts';
import { useSession } from '../../api/session.ts';
import { Button } from '../../ui/button.tsx';
import { CopyButton, CopyMenu } from '../../ui/copy.tsx';
import { Empty, STEP_CLASS } from '../../ui/empty.tsx';
import { TextField } from '../../ui/field.tsx';
import { Page, Panel } from '../../ui/page.tsx';
import { Paged } from '../../ui/paged.tsx';
import { RowForm } from '../../ui/row-form.tsx';
import { Status } from '../../ui/status.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';

import { AuditLog } from '../settings/audit-log.tsx';
import { AccountActivity } from './account-activity.tsx';
import { AccountLimits } from './account-limits.tsx';
import { AccountPanel } from './account-panel.tsx';
import { InstanceClients } from './instance-clients.tsx';
import { Nodes, Queues } from './instance.tsx';

type Account = Schemas['Account'];

const accountsQuery = pagesOf(['accounts'], (query, signal) => api.get('/v1/accounts', { query, signal }));

const COLUMNS: readonly Column<Account>[] = [
  { header: 'Name', cell: ({ name }) => <span className="font-medium">{name}</span> },
  { header: 'Id', cell: ({ id }) => <code className="font-mono text-xs">{id}</code>, under: 'Name' },
  { header: 'State', cell: ({ state }) => <Status of={state} />, className: 'w-28' },
  { header: 'Sources', cell: ({ sources }) => sources, className: 'w-20 tabular-nums' },
  {
    header: 'Made',
    cell: ({ created_at: at }) => <Time atMs={at * 1000} />,
    className: 'w-28 text-ink-soft',
    wide: true,
  },
];

/** For the admin key: nodes, queues, and the accounts with their limits. */
export function OperatorPage() {
  const session = useSession();
  const { account } = useSearch({ from: '/shell/operator' });
  const navigate = useNavigate({ from: '/operator' });
  if (session?.role !== 'operator') {
    return (
      <Page title="Operator">
        <Empty
          icon="operator"
          title="Only for the operator"
          action={
            <Link to="/" className={STEP_CLASS}>
              Go to the overview
            </Link>
          }
        >
          Sign in with the admin key (HEADWATER_ADMIN_KEY) to see the accounts of this instance.
        </Empty>
      </Page>
    );
  }
  return (
    <Page title="Operator" actions={<CopyMenu command={{ path: '/v1/accounts', hw: 'hw tenants list' }} />}>
      <Nodes />
      <Queues />
      <AccountActivity />
      {account !== undefined && (
        <AccountPanel key={`panel ${account}`} accountId={account} onDeleted={() => void navigate({ search: {} })} />
      )}
      {account !== undefined && (
        <AccountLimits key={account} accountId={account} onClose={() => void navigate({ search: {} })} />
      )}
      <AccountList onOpen={(id) => void navigate({ search: { account: id } })} />
      <NewAccount />
      <InstanceClients />
      <AuditLog />
    </Page>
  );
}

function AccountList({ onOpen }: { onOpen: (id: string) => void }) {
  const list = useInfiniteQuery(accountsQuery);
  const rows = list.data?.pages.flatMap(({ data }) => data) ?? [];
  return (
    <Paged
      list={list}
      title="Accounts"
      count={rows.length}
      empty={<p className="p-4 text-sm text-ink-soft">There is no account yet.</p>}
    >
      <Table label="Accounts" columns={COLUMNS} rows={rows} keyOf={({ id }) => id} onOpen={({ id }) => onOpen(id)} />
    </Paged>
  );
}

function NewAccount() {
  const [name, setName] = useState('');
  const queries = useQueryClient();
  const making = useMutation({
    mutationFn: () => api.post('/v1/accounts', { body: { name } }),
    onSuccess: () => {
      setName('');
      return queries.invalidateQueries({ queryKey: ['accounts'] });
    },
  });
  const made = making.data?.data;
  return (
    <Panel title="New account">
      <RowForm onSubmit={() => making.mutate()} error={making.error}>
        <TextField
          label="Account name"
          required
          value={name}
          onChange={({ target }) => setName(target.value)}
          errors={messagesFor(making.error, 'name')}
        />
        <Button type="submit" kind="primary" busy={making.isPending} disabled={name === ''}>
          Create account
        </Button>
        {made !== undefined && (
          <p
            role="status"
            className="flex basis-full flex-wrap items-center gap-1 rounded-md bg-good-soft px-3 py-2 text-sm"
          >
            Its API key, shown this once: <code className="font-mono break-all">{made.api_key}</code>
            <CopyButton text={made.api_key} what="API key" />
          </p>
        )}
      </RowForm>
    </Panel>
  );
}
