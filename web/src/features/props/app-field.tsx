import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/client.ts';
import { Button } from '../../ui/button.tsx';
import { Field, INPUT_CLASS } from '../../ui/field.tsx';
import { ProblemNote } from '../../ui/problem.tsx';
import { ConnectAccount } from '../connections/connect-account.tsx';
import type { PropFieldProps } from './prop-form.tsx';
import { fieldOf } from './simple-fields.tsx';

function accountIdOf(value: unknown): string {
  if (typeof value !== 'object' || value === null || !('authProvisionId' in value)) return '';
  return typeof value.authProvisionId === 'string' ? value.authProvisionId : '';
}

/** A connected account of the app, or a new one: with its keys, or by a window of the provider. */
export function AppField({ definition, value, onChange, errors }: PropFieldProps) {
  const [isConnecting, setConnecting] = useState(false);
  const slug = definition.app ?? '';
  const accounts = useQuery({
    queryKey: ['connected-accounts', slug],
    queryFn: ({ signal }) => api.get('/v1/users/me/accounts', { query: { app: slug, limit: 100 }, signal }),
  });
  const choose = (id: string) => onChange(id === '' ? undefined : { authProvisionId: id });
  return (
    <>
      <Field {...fieldOf({ definition, errors })}>
        {(ids) => (
          <div className="flex gap-2">
            <select
              {...ids}
              className={INPUT_CLASS}
              value={accountIdOf(value)}
              onChange={({ target }) => choose(target.value)}
            >
              <option value="">Choose an account…</option>
              {accounts.data?.data.map(({ id, name, healthy }) => (
                <option key={id} value={id}>
                  {name ?? id}
                  {healthy ? '' : ' (needs to be connected again)'}
                </option>
              ))}
            </select>
            <Button onClick={() => setConnecting(true)}>Connect</Button>
          </div>
        )}
      </Field>
      <ProblemNote error={accounts.error} />
      {isConnecting && (
        <ConnectAccount
          slug={slug}
          onClose={() => setConnecting(false)}
          onConnected={(id) => {
            setConnecting(false);
            void accounts.refetch();
            choose(id);
          }}
        />
      )}
    </>
  );
}
