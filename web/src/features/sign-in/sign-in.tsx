import { useMutation } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { type SubmitEvent, useState } from 'react';
import { signIn } from '../../api/client.ts';
import { Button } from '../../ui/button.tsx';
import { TextField } from '../../ui/field.tsx';
import { ProblemNote } from '../../ui/problem.tsx';

export function SignIn() {
  const [key, setKey] = useState('');
  const { from = '/', ended } = useSearch({ from: '/sign-in' });
  const navigate = useNavigate();
  const entering = useMutation({
    mutationFn: signIn,
    onSuccess: (session) => {
      // The admin key has no account: the pages of one would be refused.
      void navigate({ to: session.role === 'operator' ? '/operator' : from === '/operator' ? '/' : from });
    },
  });
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    entering.mutate(key.trim());
  };
  return (
    <main className="flex min-h-full items-center justify-center p-4">
      <form
        onSubmit={submit}
        className="flex w-full max-w-sm flex-col gap-4 rounded-lg border border-line bg-surface p-6 shadow-popup"
      >
        <div className="flex items-center gap-2.5">
          <img src="./assets/icon.svg" alt="" className="size-8" />
          <h1 className="text-xl font-semibold tracking-tight">Headwater</h1>
        </div>
        {ended === true && (
          <p role="status" className="rounded-md bg-warn-soft px-3 py-2 text-sm">
            Your session has ended. Sign in again to go on where you were.
          </p>
        )}
        <TextField
          label="API key"
          type="text"
          name="api-key"
          autoComplete="off"
          spellCheck={false}
          autoFocus
          required
          placeholder="hw_…"
          className="font-mono"
          value={key}
          onChange={(event) => setKey(event.target.value)}
          description="The first start of the server printed one. The browser keeps a cookie, never the key."
        />
        <ProblemNote error={entering.error} />
        <Button type="submit" kind="primary" busy={entering.isPending} disabled={key.trim() === ''}>
          Sign in
        </Button>
      </form>
    </main>
  );
}
