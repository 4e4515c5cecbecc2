import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { type SubmitEvent, useEffect, useState } from 'react';
import { BASE_PATH } from '../../api/base-url.ts';
import { api, type Schemas } from '../../api/client.ts';
import { messagesFor } from '../../api/problem.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { TextField } from '../../ui/field.tsx';
import { ProblemNote } from '../../ui/problem.tsx';
import { SkeletonRows } from '../../ui/skeleton.tsx';
import { OAUTH_CHANNEL, type OAuthResult } from './oauth-return.tsx';

type App = Schemas['App'];

interface ConnectAccountProps {
  slug: string;
  onClose: () => void;
  onConnected: (accountId: string) => void;
}

/** Connects an account of an app: with its keys, or in a window of the provider. */
export function ConnectAccount({ slug, onClose, onConnected }: ConnectAccountProps) {
  const app = useQuery({
    queryKey: ['app', slug],
    queryFn: ({ signal }) => api.get('/v1/apps/{id}', { path: { id: slug }, signal }).then(({ data }) => data),
  });
  return (
    <Dialog open onClose={onClose} title={`Connect ${app.data?.name ?? slug}`}>
      <ProblemNote error={app.error} />
      {app.isPending && <SkeletonRows rows={3} />}
      {app.data?.auth_type === 'oauth2' && <OAuthForm app={app.data} onConnected={onConnected} />}
      {app.data?.auth_type === 'keys' && <KeysForm app={app.data} onConnected={onConnected} />}
      {app.data?.auth_type === 'none' && <p className="text-sm text-ink-soft">This app needs no account.</p>}
    </Dialog>
  );
}

interface Flow {
  app: string;
  name?: string;
}

type FormProps = { app: App; onConnected: (accountId: string) => void };

function KeysForm({ app, onConnected }: FormProps) {
  const [name, setName] = useState('');
  const [values, setValues] = useState<Record<string, string>>({});
  const queries = useQueryClient();
  const connecting = useMutation({
    mutationFn: () => {
      const credentials = Object.fromEntries(Object.entries(values).filter(([, value]) => value !== ''));
      const body = { app: app.name_slug, credentials, ...(name === '' ? {} : { name }) };
      return api.post('/v1/connected_accounts', { body });
    },
    onSuccess: async ({ data }) => {
      await queries.invalidateQueries({ queryKey: ['connected-accounts'] });
      onConnected(data.id);
    },
  });
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    connecting.mutate();
  };
  return (
    <form onSubmit={submit} className="flex flex-col gap-4">
      <TextField label="Account name" optional value={name} onChange={({ target }) => setName(target.value)} />
      {app.fields.map((field) => (
        <TextField
          key={field.name}
          label={field.label}
          optional={field.optional === true}
          {...(field.description === undefined ? {} : { description: field.description })}
          autoComplete="off"
          spellCheck={false}
          className={field.secret === false ? '' : 'font-mono [-webkit-text-security:disc]'}
          value={values[field.name] ?? ''}
          placeholder={field.default ?? ''}
          errors={messagesFor(connecting.error, field.name)}
          onChange={({ target }) => setValues({ ...values, [field.name]: target.value })}
        />
      ))}
      <ProblemNote error={connecting.error} />
      <Button type="submit" kind="primary" className="self-end" busy={connecting.isPending}>
        Connect account
      </Button>
    </form>
  );
}

function OAuthForm({ app, onConnected }: FormProps) {
  const [name, setName] = useState('');
  const { start, isOpen, cancel, error } = useOAuthWindow(onConnected);
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    start({ app: app.name_slug, ...(name === '' ? {} : { name }) });
  };
  return (
    <form onSubmit={submit} className="flex flex-col gap-4">
      <p className="text-sm text-ink-soft">A window of {app.name} opens. Agree there, and this page goes on.</p>
      <TextField label="Account name" optional value={name} onChange={({ target }) => setName(target.value)} />
      <ProblemNote error={error} />
      <div className="flex justify-end gap-2">
        {isOpen && <Button onClick={cancel}>The window is gone</Button>}
        <Button type="submit" kind="primary" busy={isOpen}>
          {isOpen ? 'Waiting for the window…' : `Open ${app.name}`}
        </Button>
      </div>
    </form>
  );
}

/**
 * A window of the provider. It ends on a page of this instance, which tells this one what came of
 * it; see OAuthReturn. The window itself cannot be asked: a provider's page may cut it off from the
 * page that opened it.
 */
function useOAuthWindow(onConnected: (accountId: string) => void) {
  const [flow, setFlow] = useState<Flow>();
  const [error, setError] = useState<unknown>();
  const queries = useQueryClient();
  useEffect(() => {
    if (flow === undefined) return undefined;
    const channel = new BroadcastChannel(OAUTH_CHANNEL);
    channel.addEventListener('message', ({ data }: MessageEvent<OAuthResult>) => {
      if (data.app !== flow.app) return;
      setFlow(undefined);
      if (data.accountId === undefined) return setError(new Error(data.error ?? 'The account was not connected'));
      void queries.invalidateQueries({ queryKey: ['connected-accounts'] });
      return onConnected(data.accountId);
    });
    return () => channel.close();
  }, [flow, onConnected, queries]);

  const start = (next: Flow) => {
    setError(undefined);
    // Open the window in the click handler: browsers block windows that open later.
    const opened = window.open('about:blank', '_blank', 'popup,width=560,height=720');
    if (opened === null) {
      return setError(new Error('The browser did not open a window. Allow pop-ups for this page and try again.'));
    }
    setFlow(next);
    const redirect = `${BASE_PATH}connected`;
    return void api.post('/v1/connected_accounts/oauth/start', { body: { ...next, redirect } }).then(
      ({ data }) => (opened.location.href = data.authorize_url),
      (reason: unknown) => {
        opened.close();
        setFlow(undefined);
        setError(reason);
      },
    );
  };
  return { start, isOpen: flow !== undefined, cancel: () => setFlow(undefined), error };
}
