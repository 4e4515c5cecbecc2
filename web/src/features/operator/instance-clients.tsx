import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/client.ts';
import { Button } from '../../ui/button.tsx';
import { hwLine } from '../../ui/command.ts';
import { CopyMenu } from '../../ui/copy.tsx';
import { TextField } from '../../ui/field.tsx';
import { Panel } from '../../ui/page.tsx';
import { RowForm } from '../../ui/row-form.tsx';
import { ClientFields, clientBody, NO_CLIENT } from '../connections/client-fields.tsx';

/** The OAuth client of an app, for accounts that have set none of their own. */
export function InstanceClients() {
  const [app, setApp] = useState('');
  const [client, setClient] = useState(NO_CLIENT);
  const body = clientBody(client);
  const setting = useMutation({
    mutationFn: () => api.put('/v1/apps/{id}/oauth_client', { path: { id: app }, body }),
    onSuccess: () => setClient({ ...client, secret: '' }),
  });
  const deleting = useMutation({
    mutationFn: () => api.delete('/v1/apps/{id}/oauth_client', { path: { id: app } }),
  });
  const submit = () => {
    deleting.reset();
    setting.mutate();
  };
  const path = `/v1/apps/${encodeURIComponent(app)}/oauth_client`;
  return (
    <Panel
      title="OAuth client of an app"
      actions={
        <CopyMenu
          command={{
            method: 'PUT',
            path,
            body: clientBody({ ...client, secret: client.secret === '' ? '' : '…' }),
            hw: hwLine(['apps', 'set-client', app], { 'client-id': client.clientId, instance: true }),
          }}
          actions={{
            Delete: { method: 'DELETE', path, hw: hwLine(['apps', 'delete-client', app], { instance: true }) },
          }}
        />
      }
    >
      <RowForm onSubmit={submit} error={setting.error ?? deleting.error}>
        <p className="basis-full text-sm text-ink-soft">
          Accounts that have set no client of their own are connected with this one.
        </p>
        <TextField
          label="App"
          required
          placeholder="github"
          value={app}
          onChange={({ target }) => setApp(target.value)}
        />
        <ClientFields value={client} onChange={setClient} error={setting.error} />
        <Button type="submit" kind="primary" busy={setting.isPending} disabled={app === '' || client.clientId === ''}>
          Set the client
        </Button>
        <Button
          kind="danger"
          busy={deleting.isPending}
          disabled={app === ''}
          onClick={() => {
            setting.reset();
            deleting.mutate();
          }}
        >
          Delete the client
        </Button>
        <p role="status" className="basis-full text-sm text-ink-soft empty:hidden">
          {setting.isSuccess && `Accounts without a client of their own use ${setting.data.data.client_id} for ${app}.`}
          {deleting.isSuccess && `The instance has no client for ${app}.`}
        </p>
      </RowForm>
    </Panel>
  );
}
