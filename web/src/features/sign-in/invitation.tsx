import { useMutation, useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { type SubmitEvent, useState } from 'react';
import { acceptInvitation, api } from '../../api/client.ts';
import { messagesFor } from '../../api/problem.ts';
import { currentSession } from '../../api/session.ts';
import { Button } from '../../ui/button.tsx';
import { TextField } from '../../ui/field.tsx';
import { ProblemNote } from '../../ui/problem.tsx';
import { rememberMethod, SignInCard } from './sign-in.tsx';
import { useLinkToken } from './link-token.ts';
import { useSignInMethods } from './sign-in-methods.ts';

/**
 * The link of an invitation leads here; its token stays in the part of the URL that no request has.
 */
export function Invitation() {
  const token = useLinkToken();
  const invitation = useQuery({
    queryKey: ['invitation', token],
    queryFn: ({ signal }) => api.post('/v1/session/invitation', { body: { token }, signal }),
  });
  const shown = invitation.data?.data;
  return (
    <SignInCard>
      <ProblemNote error={invitation.error} />
      {invitation.isError && (
        <Link to="/sign-in" className="text-sm text-accent underline">
          Go to sign-in
        </Link>
      )}
      {shown !== undefined && (
        <>
          <p className="text-sm">
            You are invited to <strong>{shown.account_name}</strong> as {shown.role}.
          </p>
          {currentSession()?.member?.email === shown.email ? (
            <Join token={token} email={shown.email} />
          ) : (
            <>
              <ProviderChoice token={token} />
              <Accept token={token} email={shown.email} />
            </>
          )}
        </>
      )}
    </SignInCard>
  );
}

/** The provider sends the browser back to the sign-in page. */
function ProviderChoice({ token }: { token: string }) {
  const { oidc: provider = null } = useSignInMethods() ?? {};
  const beginning = useMutation({
    mutationFn: () => api.post('/v1/session/invitation/oidc', { body: { token } }),
    onSuccess: ({ data }) => location.assign(data.url),
  });
  if (provider === null) return null;
  return (
    <>
      <Button needs={null} busy={beginning.isPending} onClick={() => beginning.mutate()}>
        Accept and sign in with {provider.name}
      </Button>
      <ProblemNote error={beginning.error} />
    </>
  );
}

function useAccepting() {
  const navigate = useNavigate();
  return useMutation({
    mutationFn: acceptInvitation,
    onSuccess: () => {
      rememberMethod('password');
      // The link has no use any more.
      void navigate({ to: '/', hash: '', replace: true });
    },
  });
}

function Join({ token, email }: { token: string; email: string }) {
  const accepting = useAccepting();
  return (
    <>
      <p className="text-sm text-ink-soft">You are signed in as {email}.</p>
      <ProblemNote error={accepting.error} />
      <Button kind="primary" needs={null} busy={accepting.isPending} onClick={() => accepting.mutate({ token })}>
        Join
      </Button>
    </>
  );
}

function Accept({ token, email }: { token: string; email: string }) {
  const [name, setName] = useState('');
  const [password, setPassword] = useState('');
  const accepting = useAccepting();
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    accepting.mutate({ token, password, ...(name.trim() === '' ? {} : { name: name.trim() }) });
  };
  return (
    <form onSubmit={submit} className="flex flex-col gap-4">
      <TextField label="E-mail" type="email" name="email" autoComplete="username" readOnly value={email} />
      <TextField
        label="Name"
        autoComplete="name"
        value={name}
        onChange={({ target }) => setName(target.value)}
        errors={messagesFor(accepting.error, 'name')}
      />
      <TextField
        label="Password"
        type="password"
        autoComplete="new-password"
        required
        value={password}
        onChange={({ target }) => setPassword(target.value)}
        errors={messagesFor(accepting.error, 'password')}
        description="At least 10 characters. If you have a sign-in here already, its password."
      />
      <ProblemNote error={accepting.error} />
      <Button type="submit" kind="primary" needs={null} busy={accepting.isPending} disabled={password === ''}>
        Accept and sign in
      </Button>
    </form>
  );
}
