import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useId, useState } from 'react';
import { publicUrl } from '../../api/base-url.ts';
import { api, type Schemas } from '../../api/client.ts';
import { Button } from '../../ui/button.tsx';
import { CopyButton, CopyMenu } from '../../ui/copy.tsx';
import { Confirm } from '../../ui/dialog.tsx';
import { Empty, ToForm } from '../../ui/empty.tsx';
import { TextField } from '../../ui/field.tsx';
import { Panel } from '../../ui/page.tsx';
import { ProblemNote } from '../../ui/problem.tsx';
import { RowForm } from '../../ui/row-form.tsx';
import { SkeletonRows } from '../../ui/skeleton.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { ClientFields, clientBody, NO_CLIENT } from '../connections/client-fields.tsx';

type Client = Schemas['OAuthClient'];

const clientsQuery = {
  queryKey: ['oauth-clients'],
  queryFn: ({ signal }: { signal: AbortSignal }) =>
    api.get('/v1/users/me/oauth_clients', { signal }).then(({ data }) => data),
};

/** The account's own clients at providers: each goes before that of the instance. */
export function OAuthClients() {
  const { data: clients, error } = useQuery(clientsQuery);
  const [edited, setEdited] = useState<Client>();
  const [deleted, setDeleted] = useState<Client>();
  const queries = useQueryClient();
  const deleting = useMutation({
    mutationFn: (id: string) => api.delete('/v1/users/me/oauth_clients/{id}', { path: { id } }),
    onSuccess: async () => {
      setDeleted(undefined);
      await queries.invalidateQueries({ queryKey: ['oauth-clients'] });
    },
  });
  const columns: readonly Column<Client>[] = [
    { header: 'App', cell: ({ app }) => <span className="font-medium">{app.name}</span> },
    { header: 'Client id', cell: ({ client_id: id }) => <code className="font-mono text-xs">{id}</code> },
    { header: 'Secret', cell: ({ has_secret: has }) => (has ? 'stored' : 'none'), className: 'w-24', wide: true },
    {
      header: 'Changed',
      cell: ({ updated_at: at }) => <Time atMs={at * 1000} />,
      className: 'w-28 text-ink-soft',
      wide: true,
    },
    {
      header: 'Actions',
      cell: (client) => (
        <span className="flex gap-1">
          <Button size="small" aria-label={`Change client of ${client.app.name}`} onClick={() => setEdited(client)}>
            Change
          </Button>
          <Button
            size="small"
            kind="danger"
            aria-label={`Delete client of ${client.app.name}`}
            onClick={() => setDeleted(client)}
          >
            Delete
          </Button>
        </span>
      ),
      className: 'w-40',
    },
  ];
  return (
    <div className="flex flex-col gap-4">
      <SetClient key={edited?.app.id ?? ''} client={edited} onDone={() => setEdited(undefined)} />
      <ProblemNote error={error} />
      <Panel
        title="Clients"
        actions={<CopyMenu command={{ path: '/v1/users/me/oauth_clients', hw: 'hw apps clients' }} />}
      >
        {clients === undefined && error === null && <SkeletonRows rows={2} />}
        {clients?.length === 0 && (
          <Empty
            icon="connection"
            title="No clients of your own"
            command="hw apps set-client github"
            action={<ToForm form="set-client">Choose the app</ToForm>}
          >
            Accounts are connected with the client that the operator has set for the app. Set one of your own above to
            use that instead.
          </Empty>
        )}
        {clients !== undefined && clients.length > 0 && (
          <Table label="OAuth clients" columns={columns} rows={clients} keyOf={({ app }) => app.id} />
        )}
      </Panel>
      <Confirm
        open={deleted !== undefined}
        onClose={() => setDeleted(undefined)}
        title={`Delete the client of ${deleted?.app.name ?? ''}?`}
        action="Delete client"
        busy={deleting.isPending}
        onConfirm={() => deleted !== undefined && deleting.mutate(deleted.app.name_slug)}
      >
        Accounts that were connected with it get no new tokens, and have to be connected again.
        <ProblemNote error={deleting.error} />
      </Confirm>
    </div>
  );
}

/** Apps with OAuth that are offered while one types; any other is written as its slug. */
function useOAuthApps() {
  const { data = [] } = useQuery({
    queryKey: ['apps', 'oauth'],
    queryFn: ({ signal }) => api.get('/v1/apps', { query: { limit: 100 }, signal }).then((answer) => answer.data),
  });
  return data.filter(({ auth_type: type }) => type === 'oauth2');
}

function SetClient({ client, onDone }: { client: Client | undefined; onDone: () => void }) {
  const [slug, setSlug] = useState(client?.app.name_slug ?? '');
  const [input, setInput] = useState({ clientId: client?.client_id ?? '', secret: '' });
  const listId = useId();
  const apps = useOAuthApps();
  const queries = useQueryClient();
  const setting = useMutation({
    mutationFn: () =>
      api.put('/v1/users/me/oauth_clients/{id}', {
        path: { id: slug },
        body: clientBody(input),
      }),
    onSuccess: async () => {
      setSlug('');
      setInput(NO_CLIENT);
      await queries.invalidateQueries({ queryKey: ['oauth-clients'] });
      onDone();
    },
  });
  const redirect = publicUrl('/oauth/callback');
  return (
    <Panel title={client === undefined ? 'Set a client' : `Change the client of ${client.app.name}`}>
      <RowForm id="set-client" onSubmit={() => setting.mutate()} error={setting.error}>
        <p className="flex basis-full flex-wrap items-center gap-1 text-sm text-ink-soft">
          Register this redirect URI at the provider: <code className="font-mono text-xs break-all">{redirect}</code>
          <CopyButton text={redirect} what="redirect URI" />
        </p>
        <TextField
          label="App"
          required
          readOnly={client !== undefined}
          className="font-mono"
          list={listId}
          value={slug}
          onChange={({ target }) => setSlug(target.value.trim())}
          placeholder="github"
        />
        <datalist id={listId}>
          {apps.map(({ id, name, name_slug: value }) => (
            <option key={id} value={value}>
              {name}
            </option>
          ))}
        </datalist>
        <ClientFields value={input} onChange={setInput} error={setting.error} />
        <Button type="submit" kind="primary" busy={setting.isPending} disabled={slug === '' || input.clientId === ''}>
          Set client
        </Button>
        {client !== undefined && <Button onClick={onDone}>Cancel</Button>}
        {client?.has_secret === true && (
          <p className="basis-full text-sm text-ink-soft">
            The stored secret is replaced: type it again. A public client has none.
          </p>
        )}
      </RowForm>
    </Panel>
  );
}
