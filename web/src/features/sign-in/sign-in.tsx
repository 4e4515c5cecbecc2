import { useMutation } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { type ReactNode, type SubmitEvent, useState } from 'react';
import { type Credentials, signIn } from '../../api/client.ts';
import { Button } from '../../ui/button.tsx';
import { TextField } from '../../ui/field.tsx';
import { ProblemNote } from '../../ui/problem.tsx';

const METHODS = { password: 'E-mail and password', key: 'API key' } as const;

/** A member by e-mail address and password, or whoever has an API key. */
export function SignIn() {
  const [method, setMethod] = useState<keyof typeof METHODS>(lastMethod());
  const { from = '/', ended } = useSearch({ from: '/sign-in' });
  const navigate = useNavigate();
  const entering = useMutation({
    mutationFn: signIn,
    onSuccess: (session) => {
      rememberMethod(method);
      // The admin key has no account: the pages of one would be refused.
      void navigate({ to: session.role === 'operator' ? '/operator' : from === '/operator' ? '/' : from });
    },
  });
  const choose = (value: keyof typeof METHODS) => {
    entering.reset();
    setMethod(value);
  };
  return (
    <SignInCard>
      {ended === true && (
        <p role="status" className="rounded-md bg-warn-soft px-3 py-2 text-sm">
          Your session has ended. Sign in again to go on where you were.
        </p>
      )}
      <fieldset className="flex gap-1">
        <legend className="sr-only">Sign in with</legend>
        {Object.entries(METHODS).map(([value, label]) => (
          <Button
            key={value}
            size="small"
            kind={value === method ? 'plain' : 'quiet'}
            aria-pressed={value === method}
            onClick={() => choose(value as keyof typeof METHODS)}
          >
            {label}
          </Button>
        ))}
      </fieldset>
      {method === 'key' ? (
        <KeyForm busy={entering.isPending} error={entering.error} onEnter={entering.mutate} />
      ) : (
        <PasswordForm busy={entering.isPending} error={entering.error} onEnter={entering.mutate} />
      )}
    </SignInCard>
  );
}

export function SignInCard({ children }: { children: ReactNode }) {
  return (
    <main className="flex min-h-full items-center justify-center p-4">
      <div className="flex w-full max-w-sm flex-col gap-4 rounded-lg border border-line bg-surface p-6 shadow-popup">
        <div className="flex items-center gap-2.5">
          <img src="./assets/icon.svg" alt="" className="size-8" />
          <h1 className="text-xl font-semibold tracking-tight">Headwater</h1>
        </div>
        {children}
      </div>
    </main>
  );
}

interface FormProps {
  busy: boolean;
  error: unknown;
  onEnter: (credentials: Credentials) => void;
}

function KeyForm({ busy, error, onEnter }: FormProps) {
  const [key, setKey] = useState('');
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    onEnter({ api_key: key.trim() });
  };
  return (
    <form onSubmit={submit} className="flex flex-col gap-4">
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
      <ProblemNote error={error} />
      <Button type="submit" kind="primary" needs={null} busy={busy} disabled={key.trim() === ''}>
        Sign in
      </Button>
    </form>
  );
}

function PasswordForm({ busy, error, onEnter }: FormProps) {
  const [email, setEmail] = useState('');
  const [password, setPassword] = useState('');
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    onEnter({ email, password });
  };
  return (
    <form onSubmit={submit} className="flex flex-col gap-4">
      <TextField
        label="E-mail"
        type="email"
        name="email"
        autoComplete="username"
        autoFocus
        required
        value={email}
        onChange={(event) => setEmail(event.target.value)}
      />
      <TextField
        label="Password"
        type="password"
        name="password"
        autoComplete="current-password"
        required
        value={password}
        onChange={(event) => setPassword(event.target.value)}
      />
      <ProblemNote error={error} />
      <Button type="submit" kind="primary" needs={null} busy={busy} disabled={email === '' || password === ''}>
        Sign in
      </Button>
    </form>
  );
}

const METHOD_KEY = 'headwater.sign-in';

/** A new instance has a key and no members. */
function lastMethod(): keyof typeof METHODS {
  return localStorage.getItem(METHOD_KEY) === 'password' ? 'password' : 'key';
}

export function rememberMethod(method: keyof typeof METHODS): void {
  localStorage.setItem(METHOD_KEY, method);
}
