import { useMutation } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { type SubmitEvent, useState } from 'react';
import { api, resetPassword } from '../../api/client.ts';
import { messagesFor } from '../../api/problem.ts';
import { Button } from '../../ui/button.tsx';
import { TextField } from '../../ui/field.tsx';
import { ProblemNote } from '../../ui/problem.tsx';
import { useLinkToken } from './link-token.ts';
import { rememberMethod, SignInCard } from './sign-in.tsx';

/** Asks for the mail. The answer tells nobody whether there is such a person. */
export function ForgottenPassword() {
  const [email, setEmail] = useState('');
  const asking = useMutation({ mutationFn: () => api.post('/v1/session/password_reset', { body: { email } }) });
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    asking.mutate();
  };
  return (
    <SignInCard>
      <h2 className="text-lg font-semibold">Forgotten password</h2>
      {asking.isSuccess ? (
        <p role="status" className="text-sm">
          If a person signs in with {email} here, a mail with a link is on its way. The link works for an hour.
        </p>
      ) : (
        <form onSubmit={submit} className="flex flex-col gap-4">
          <TextField
            label="E-mail"
            type="email"
            name="email"
            autoComplete="username"
            autoFocus
            required
            value={email}
            onChange={({ target }) => setEmail(target.value)}
            description="You get a link that sets a new password."
          />
          <ProblemNote error={asking.error} />
          <Button type="submit" kind="primary" needs={null} busy={asking.isPending} disabled={email === ''}>
            Send the link
          </Button>
        </form>
      )}
      <Link to="/sign-in" className="text-sm text-accent underline">
        Back to sign-in
      </Link>
    </SignInCard>
  );
}

/** The mailed link leads here; its token stays in the part of the URL that no request has. */
export function NewPassword() {
  const token = useLinkToken();
  const [password, setPassword] = useState('');
  const navigate = useNavigate();
  const setting = useMutation({
    mutationFn: () => resetPassword({ token, password }),
    onSuccess: () => {
      rememberMethod('password');
      // The link has no use any more.
      void navigate({ to: '/', hash: '', replace: true });
    },
  });
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    setting.mutate();
  };
  if (token === '') {
    return (
      <SignInCard>
        <h2 className="text-lg font-semibold">This link is not whole</h2>
        <p className="text-sm text-ink-soft">
          Its end is missing. Open the link in the mail again, or ask for another.
        </p>
        <Link to="/forgotten-password" className="text-sm text-accent underline">
          Ask for another link
        </Link>
      </SignInCard>
    );
  }
  return (
    <SignInCard>
      <h2 className="text-lg font-semibold">Set a new password</h2>
      <form onSubmit={submit} className="flex flex-col gap-4">
        <TextField
          label="New password"
          type="password"
          autoComplete="new-password"
          autoFocus
          required
          value={password}
          onChange={({ target }) => setPassword(target.value)}
          errors={messagesFor(setting.error, 'password')}
          description="At least 10 characters. You are signed out everywhere else, and your passkeys are removed."
        />
        <ProblemNote error={setting.error} />
        <Button type="submit" kind="primary" needs={null} busy={setting.isPending} disabled={password === ''}>
          Set the password and sign in
        </Button>
      </form>
      <Link to="/forgotten-password" className="text-sm text-accent underline">
        Ask for another link
      </Link>
    </SignInCard>
  );
}
