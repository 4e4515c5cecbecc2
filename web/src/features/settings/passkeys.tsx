import { useInfiniteQuery, useMutation, useQueryClient } from '@tanstack/react-query';
import { type SubmitEvent, useState } from 'react';
import { api, type Schemas } from '../../api/client.ts';
import { pagesOf } from '../../api/pages.ts';
import { addPasskey, canUsePasskeys } from '../../api/passkeys.ts';
import { messagesFor } from '../../api/problem.ts';
import { Button } from '../../ui/button.tsx';
import { Confirm, Dialog } from '../../ui/dialog.tsx';
import { TextField } from '../../ui/field.tsx';
import { Panel } from '../../ui/page.tsx';
import { Paged } from '../../ui/paged.tsx';
import { ProblemNote } from '../../ui/problem.tsx';
import { RowForm } from '../../ui/row-form.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { useSignInMethods } from '../sign-in/sign-in-methods.ts';

type Passkey = Schemas['Passkey'];

const KEY = ['own-passkeys'];

const passkeysQuery = pagesOf(KEY, (query, signal) => api.get('/v1/users/me/passkeys', { query, signal }));

/** The passkeys of the member who is signed in. */
export function Passkeys() {
  const list = useInfiniteQuery(passkeysQuery);
  const [renamed, setRenamed] = useState<Passkey>();
  const [removed, setRemoved] = useState<Passkey>();
  const rows = list.data?.pages.flatMap(({ data }) => data) ?? [];
  const columns: readonly Column<Passkey>[] = [
    { header: 'Name', cell: ({ name }) => <span className="font-medium">{name}</span>, wraps: true },
    {
      header: 'Copies',
      cell: (one) => (one.is_backed_up ? 'kept elsewhere too' : 'none'),
      className: 'w-40',
      wide: true,
    },
    {
      header: 'Added',
      cell: ({ created_at: at }) => <Time atMs={at * 1000} />,
      className: 'w-28 text-ink-soft',
      wide: true,
    },
    {
      header: 'Last used',
      cell: ({ last_used_at: at }) => (at === null ? 'never' : <Time atMs={at * 1000} />),
      className: 'w-28 text-ink-soft',
    },
    {
      header: 'Rename',
      cell: (one) => (
        <Button size="small" aria-label={`Rename ${one.name}`} onClick={() => setRenamed(one)}>
          Rename
        </Button>
      ),
      className: 'w-24',
      wide: true,
    },
    {
      header: 'Remove',
      cell: (one) => (
        <Button
          kind="danger"
          size="small"
          needs={null}
          aria-label={`Remove ${one.name}`}
          onClick={() => setRemoved(one)}
        >
          Remove
        </Button>
      ),
      className: 'w-24',
    },
  ];
  return (
    <>
      <NewPasskey />
      {(rows.length > 0 || list.isError) && (
        <Paged list={list} title="Passkeys" count={rows.length} empty={null}>
          <Table label="Passkeys" columns={columns} rows={rows} keyOf={({ id }) => id} />
        </Paged>
      )}
      {renamed !== undefined && <Rename passkey={renamed} onClose={() => setRenamed(undefined)} />}
      {removed !== undefined && <Remove passkey={removed} onClose={() => setRemoved(undefined)} />}
    </>
  );
}

function NewPasskey() {
  const isNamed = useSignInMethods()?.passkey;
  if (isNamed === undefined) return null;
  return (
    <Panel title="New passkey">
      {isNamed && canUsePasskeys() ? (
        <NewPasskeyForm />
      ) : (
        <p className="p-4 text-sm text-ink-soft">
          {isNamed
            ? 'This browser makes no passkeys for this page.'
            : 'Browsers make passkeys for a host name with https, or for localhost. The operator of this server sets HEADWATER_PUBLIC_URL.'}
        </p>
      )}
    </Panel>
  );
}

function NewPasskeyForm() {
  const [name, setName] = useState('');
  const [password, setPassword] = useState('');
  const queries = useQueryClient();
  const adding = useMutation({
    mutationFn: () => addPasskey(name, password),
    onSuccess: () => {
      setName('');
      setPassword('');
      return queries.invalidateQueries({ queryKey: KEY });
    },
  });
  const passwordErrors = messagesFor(adding.error, 'current_password');
  // An older session needs it: the server has said so.
  const asksPassword = passwordErrors.length > 0 || password !== '';
  return (
    <RowForm onSubmit={() => adding.mutate()} error={adding.error}>
      <TextField
        label="Passkey name"
        required
        placeholder="Laptop"
        value={name}
        onChange={({ target }) => setName(target.value)}
        errors={messagesFor(adding.error, 'name')}
      />
      {asksPassword && (
        <TextField
          label="Your password"
          type="password"
          autoComplete="current-password"
          required
          value={password}
          onChange={({ target }) => setPassword(target.value)}
          errors={passwordErrors}
        />
      )}
      <Button type="submit" kind="primary" needs={null} busy={adding.isPending} disabled={name.trim() === ''}>
        Add a passkey
      </Button>
      <p className="basis-full text-sm text-ink-soft" role="status">
        {adding.isSuccess
          ? 'The passkey is added. It signs you in without the password.'
          : 'A passkey signs you in with your finger, your face or the PIN of your device, in place of the password.'}
      </p>
    </RowForm>
  );
}

function Rename({ passkey, onClose }: { passkey: Passkey; onClose: () => void }) {
  const [name, setName] = useState(passkey.name);
  const queries = useQueryClient();
  const renaming = useMutation({
    mutationFn: () => api.put('/v1/users/me/passkeys/{id}', { path: { id: passkey.id }, body: { name } }),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: KEY });
      onClose();
    },
  });
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    renaming.mutate();
  };
  return (
    <Dialog open onClose={onClose} title={`Rename passkey ${passkey.name}`}>
      <form onSubmit={submit} className="flex flex-col gap-4">
        <TextField
          label="New name"
          required
          value={name}
          onChange={({ target }) => setName(target.value)}
          errors={messagesFor(renaming.error, 'name')}
        />
        <ProblemNote error={renaming.error} />
        <Button type="submit" kind="primary" needs={null} busy={renaming.isPending} disabled={name.trim() === ''}>
          Rename passkey
        </Button>
      </form>
    </Dialog>
  );
}

function Remove({ passkey, onClose }: { passkey: Passkey; onClose: () => void }) {
  const queries = useQueryClient();
  const removing = useMutation({
    mutationFn: () => api.delete('/v1/users/me/passkeys/{id}', { path: { id: passkey.id } }),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: KEY });
      onClose();
    },
  });
  return (
    <Confirm
      open
      onClose={onClose}
      title={`Remove passkey ${passkey.name}?`}
      action="Remove passkey"
      needs={null}
      busy={removing.isPending}
      onConfirm={() => removing.mutate()}
    >
      It does not sign in any more. Sessions that it began go on: end them in the list below. Your device still shows it
      until you delete it there.
      <ProblemNote error={removing.error} />
    </Confirm>
  );
}
