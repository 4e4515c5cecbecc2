import { useInfiniteQuery, useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api, type Schemas } from '../../api/client.ts';
import { pagesOf } from '../../api/pages.ts';
import { messagesFor } from '../../api/problem.ts';
import { Button } from '../../ui/button.tsx';
import { CopyButton } from '../../ui/copy.tsx';
import { Confirm } from '../../ui/dialog.tsx';
import { Field, INPUT_CLASS, TextField } from '../../ui/field.tsx';
import { Panel } from '../../ui/page.tsx';
import { Paged } from '../../ui/paged.tsx';
import { ProblemNote } from '../../ui/problem.tsx';
import { RowForm } from '../../ui/row-form.tsx';
import { Status } from '../../ui/status.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';

type ApiKey = Schemas['ApiKey'];

const keysQuery = pagesOf(['api-keys'], (query, signal) => api.get('/v1/api_keys', { query, signal }));

/**
 * Keys of the account. A new one is shown once; revoking one ends the sessions that were opened
 * with it.
 */
export function ApiKeys() {
  const list = useInfiniteQuery(keysQuery);
  const [revoked, setRevoked] = useState<ApiKey>();
  const queries = useQueryClient();
  const revoking = useMutation({
    mutationFn: (id: string) => api.delete('/v1/api_keys/{id}', { path: { id } }),
    onSuccess: async () => {
      setRevoked(undefined);
      await queries.invalidateQueries({ queryKey: ['api-keys'] });
    },
  });
  const rotating = useMutation({
    mutationFn: (id: string) => api.post('/v1/api_keys/{id}/rotate', { path: { id }, body: {} }),
    onSuccess: () => queries.invalidateQueries({ queryKey: ['api-keys'] }),
  });
  const rotated = rotating.data?.data;
  const columns: readonly Column<ApiKey>[] = [
    { header: 'Name', cell: ({ name }) => <span className="font-medium">{name}</span>, wraps: true },
    {
      header: 'Key',
      cell: ({ hint }) => <span className="font-mono text-xs">…{hint}</span>,
      className: 'w-28',
      wide: true,
    },
    {
      header: 'State',
      cell: (key) => {
        const state = stateOf(key);
        return <Status of={state === 'active' ? 'active' : 'cancelled'} label={state} />;
      },
      className: 'w-28',
    },
    {
      header: 'Scopes',
      cell: ({ scopes, resource }) => scopes.join(', ') + (resource === null ? '' : ` on ${resource}`),
      className: 'w-40',
      wide: true,
    },
    {
      header: 'Last used',
      cell: ({ last_used_at: at }) => (at === null ? 'never' : <Time atMs={at * 1000} />),
      className: 'w-28 text-ink-soft',
      wide: true,
    },
    {
      header: 'Expires',
      cell: ({ expires_at: at }) => (at === null ? 'never' : <Time atMs={at * 1000} />),
      className: 'w-28 text-ink-soft',
      wide: true,
    },
    {
      header: 'Made',
      cell: ({ created_at: at }) => <Time atMs={at * 1000} />,
      className: 'w-28 text-ink-soft',
      wide: true,
    },
    {
      header: 'Actions',
      cell: (key) => (
        <span className="flex flex-wrap gap-1 py-1">
          {stateOf(key) === 'active' && (
            <Button size="small" needs="keys" aria-label={`Rotate ${key.name}`} onClick={() => rotating.mutate(key.id)}>
              Rotate
            </Button>
          )}
          {key.revoked_at === null && (
            <Button
              kind="danger"
              needs="keys"
              size="small"
              aria-label={`Revoke ${key.name}`}
              onClick={() => setRevoked(key)}
            >
              Revoke
            </Button>
          )}
        </span>
      ),
      className: 'w-40 @max-2xl:w-24',
    },
  ];
  const rows = list.data?.pages.flatMap(({ data }) => data) ?? [];
  return (
    <div className="flex flex-col gap-4">
      <NewKey />
      <ProblemNote error={rotating.error} />
      {rotated !== undefined && <Rotated name={rotated.name} apiKey={rotated.api_key} />}
      <Paged list={list} title="Keys" count={rows.length} empty={null}>
        <Table label="API keys" columns={columns} rows={rows} keyOf={({ id }) => id} />
      </Paged>
      <Confirm
        open={revoked !== undefined}
        onClose={() => setRevoked(undefined)}
        title={`Revoke key ${revoked?.name ?? ''}?`}
        action="Revoke key"
        needs="keys"
        busy={revoking.isPending}
        onConfirm={() => revoked !== undefined && revoking.mutate(revoked.id)}
      >
        Programs that use it are refused within five seconds, and sessions that were opened with it end. It cannot be
        made valid again.
        <ProblemNote error={revoking.error} />
      </Confirm>
    </div>
  );
}

function Rotated({ name, apiKey }: { name: string; apiKey: string }) {
  return (
    <p role="status" className="flex flex-wrap items-center gap-1 rounded-md bg-good-soft px-3 py-2 text-sm">
      The new key of {name}, shown this once; the old one works for 24 hours more:{' '}
      <code className="font-mono break-all">{apiKey}</code>
      <CopyButton text={apiKey} what="API key" />
    </p>
  );
}

function stateOf({ revoked_at: revokedAt, expires_at: expiresAt }: ApiKey): 'active' | 'revoked' | 'expired' {
  if (revokedAt !== null) return 'revoked';
  return expiresAt !== null && expiresAt * 1000 <= Date.now() ? 'expired' : 'active';
}

const SCOPES = {
  full: 'Everything',
  read: 'Read everything but secrets',
  publish: 'Send events',
  webhooks: 'Webhooks, subscriptions and deliveries',
  deploy: 'Deploy sources, workflows and components',
} as const;

const DAY_SECONDS = 24 * 60 * 60;
const LIFETIMES = {
  never: 'never',
  '1': 'in a day',
  '30': 'in 30 days',
  '90': 'in 90 days',
  '365': 'in a year',
} as const;

function NewKey() {
  const [name, setName] = useState('');
  const [scope, setScope] = useState<keyof typeof SCOPES>('full');
  const [days, setDays] = useState('never');
  const queries = useQueryClient();
  const making = useMutation({
    mutationFn: () => {
      const expires =
        days === 'never' ? {} : { expires_at: Math.floor(Date.now() / 1000) + Number(days) * DAY_SECONDS };
      return api.post('/v1/api_keys', { body: { name, scopes: [scope], ...expires } });
    },
    onSuccess: () => {
      setName('');
      return queries.invalidateQueries({ queryKey: ['api-keys'] });
    },
  });
  const made = making.data?.data;
  return (
    <Panel title="New key">
      <RowForm onSubmit={() => making.mutate()} error={making.error}>
        <TextField
          label="Key name"
          required
          value={name}
          onChange={({ target }) => setName(target.value)}
          errors={messagesFor(making.error, 'name')}
          placeholder="deploys from CI"
        />
        <Select
          label="It may"
          value={scope}
          options={SCOPES}
          onChange={(chosen) => setScope(chosen as keyof typeof SCOPES)}
        />
        <Select label="Expires" value={days} options={LIFETIMES} onChange={setDays} />
        <Button type="submit" kind="primary" needs="keys" busy={making.isPending} disabled={name === ''}>
          Create key
        </Button>
        {made !== undefined && (
          <p
            role="status"
            className="flex basis-full flex-wrap items-center gap-1 rounded-md bg-good-soft px-3 py-2 text-sm"
          >
            Copy it now, it is not shown again: <code className="font-mono break-all">{made.api_key}</code>
            <CopyButton text={made.api_key} what="API key" />
          </p>
        )}
      </RowForm>
    </Panel>
  );
}

function Select(props: {
  label: string;
  value: string;
  options: Record<string, string>;
  onChange: (value: string) => void;
}) {
  return (
    <Field label={props.label}>
      {(ids) => (
        <select
          {...ids}
          className={INPUT_CLASS}
          value={props.value}
          onChange={({ target }) => props.onChange(target.value)}
        >
          {Object.entries(props.options).map(([value, text]) => (
            <option key={value} value={value}>
              {text}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}
