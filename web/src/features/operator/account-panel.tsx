import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/client.ts';
import { messagesFor } from '../../api/problem.ts';
import { Button } from '../../ui/button.tsx';
import { type Command, hwLine } from '../../ui/command.ts';
import { CopyButton, CopyMenu } from '../../ui/copy.tsx';
import { Confirm } from '../../ui/dialog.tsx';
import { TextField } from '../../ui/field.tsx';
import { Panel } from '../../ui/page.tsx';
import { ProblemNote } from '../../ui/problem.tsx';
import { RowForm } from '../../ui/row-form.tsx';
import { SkeletonRows } from '../../ui/skeleton.tsx';
import { Status } from '../../ui/status.tsx';
import { accountQuery } from './operator-queries.ts';

const KEY_NAME = 'Made by the operator';

/** Renames, suspends and resumes an account, and makes a key of it. */
export function AccountPanel({ accountId, onDeleted }: { accountId: string; onDeleted: () => void }) {
  const { data, error } = useQuery(accountQuery(accountId));
  const [isSuspending, setSuspending] = useState(false);
  const [isDeleting, setDeleting] = useState(false);
  const queries = useQueryClient();
  const refresh = () =>
    Promise.all([
      queries.invalidateQueries({ queryKey: ['accounts'] }),
      queries.invalidateQueries({ queryKey: ['account', accountId] }),
    ]);
  const path = { id: accountId };
  const suspension = useMutation({
    mutationFn: (action: 'suspend' | 'resume') =>
      action === 'suspend'
        ? api.post('/v1/tenants/{id}/suspend', { path })
        : api.post('/v1/tenants/{id}/resume', { path }),
    onSuccess: async () => {
      setSuspending(false);
      await refresh();
    },
  });
  const makingKey = useMutation({
    mutationFn: () => api.post('/v1/tenants/{id}/api_keys', { path, body: { name: KEY_NAME } }),
  });
  const deleting = useMutation({
    mutationFn: () => api.delete('/v1/tenants/{id}', { path }),
    onSuccess: async () => {
      onDeleted();
      await queries.invalidateQueries({ queryKey: ['accounts'] });
    },
  });
  const isSuspended = data?.state === 'suspended';
  const made = makingKey.data?.data;
  return (
    <Panel
      title={`Account ${data?.name ?? accountId}`}
      actions={
        data && (
          <>
            <Status of={data.state} />
            {isSuspended ? (
              <Button size="small" busy={suspension.isPending} onClick={() => suspension.mutate('resume')}>
                Resume account
              </Button>
            ) : (
              <Button size="small" kind="danger" onClick={() => setSuspending(true)}>
                Suspend account
              </Button>
            )}
            <Button size="small" kind="danger" onClick={() => setDeleting(true)}>
              Delete account
            </Button>
            <Button size="small" busy={makingKey.isPending} onClick={() => makingKey.mutate()}>
              New key
            </Button>
            <CopyMenu command={{ path: `/v1/tenants/${accountId}` }} actions={commandsOf(accountId, isSuspended)} />
          </>
        )
      }
    >
      <div className="p-4 empty:hidden">
        <ProblemNote error={error ?? suspension.error ?? makingKey.error} />
      </div>
      {data === undefined && error === null && <SkeletonRows rows={1} />}
      {data !== undefined && <Rename key={data.name} accountId={accountId} name={data.name} onDone={refresh} />}
      {made !== undefined && (
        <p role="status" className="m-4 flex flex-wrap items-center gap-1 rounded-md bg-good-soft px-3 py-2 text-sm">
          Its new key, shown this once: <code className="font-mono break-all">{made.api_key}</code>
          <CopyButton text={made.api_key} what="API key" />
        </p>
      )}
      <Confirm
        open={isSuspending}
        onClose={() => setSuspending(false)}
        title={`Suspend account ${data?.name ?? ''}?`}
        action="Suspend"
        busy={suspension.isPending}
        onConfirm={() => suspension.mutate('suspend')}
      >
        Its endpoints answer 503, its keys change nothing and its timers do not fire. What it has to run and to deliver
        waits until you resume it; nothing is lost.
      </Confirm>
      <Confirm
        open={isDeleting}
        onClose={() => setDeleting(false)}
        title={`Delete account ${data?.name ?? ''}?`}
        action="Delete for good"
        busy={deleting.isPending}
        onConfirm={() => deleting.mutate()}
      >
        Its keys and endpoints are gone at once, and all its code, secrets, events and history soon after. It cannot be
        taken back.
        <ProblemNote error={deleting.error} />
      </Confirm>
    </Panel>
  );
}

function commandsOf(accountId: string, isSuspended: boolean): Record<string, Command> {
  return {
    [isSuspended ? 'Resume' : 'Suspend']: {
      method: 'POST',
      path: `/v1/tenants/${accountId}/${isSuspended ? 'resume' : 'suspend'}`,
      hw: isSuspended ? `hw tenants resume ${accountId}` : `hw tenants suspend ${accountId}`,
    },
    'New key': {
      method: 'POST',
      path: `/v1/tenants/${accountId}/api_keys`,
      body: { name: KEY_NAME },
      hw: hwLine(['tenants', 'key', accountId, KEY_NAME]),
    },
    Delete: {
      method: 'DELETE',
      path: `/v1/tenants/${accountId}`,
      hw: `hw tenants delete ${accountId}`,
    },
  };
}

function Rename({ accountId, name, onDone }: { accountId: string; name: string; onDone: () => Promise<unknown> }) {
  const [value, setValue] = useState(name);
  const renaming = useMutation({
    mutationFn: () => api.put('/v1/tenants/{id}', { path: { id: accountId }, body: { name: value } }),
    onSuccess: onDone,
  });
  return (
    <RowForm onSubmit={() => renaming.mutate()} error={renaming.error}>
      <TextField
        label="Name of the account"
        required
        value={value}
        onChange={({ target }) => setValue(target.value)}
        errors={messagesFor(renaming.error, 'name')}
      />
      <Button type="submit" busy={renaming.isPending} disabled={value === name || value === ''}>
        Rename
      </Button>
    </RowForm>
  );
}
