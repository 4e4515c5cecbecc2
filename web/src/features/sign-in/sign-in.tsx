import { useMutation } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { type ReactNode, type SubmitEvent, useEffect, useState } from 'react';
import { BASE_PATH } from '../../api/base-url.ts';
import { type Credentials, signIn, switchAccount, takeSession } from '../../api/client.ts';
import { canUsePasskeys, offerPasskeys, signInWithPasskey } from '../../api/passkeys.ts';
import type { Session } from '../../api/session.ts';
import { Button } from '../../ui/button.tsx';
import { TextField } from '../../ui/field.tsx';
import { ProblemNote } from '../../ui/problem.tsx';
import { useSignInMethods } from './sign-in-methods.ts';

const METHODS = { password: 'E-mail and password', key: 'API key' } as const;

/** A member by e-mail address and password, or whoever has an API key. */
export function SignIn() {
  const [method, setMethod] = useState<keyof typeof METHODS>(lastMethod());
  const { from = '/', ended } = useSearch({ from: '/sign-in' });
  const navigate = useNavigate();
  const goOn = (session: Session) =>
    // The admin key has no account: the pages of one would be refused.
    void navigate({ to: session.role === 'operator' ? '/operator' : from === '/operator' ? '/' : from });
  const entering = useMutation({
    mutationFn: signIn,
    onSuccess: (session) => {
      rememberMethod(method);
      goOn(session);
    },
  });
  const passkey = usePasskey(method === 'password', goOn);
  const { oidc: provider = null } = useSignInMethods() ?? {};
  const choose = (value: keyof typeof METHODS) => {
    entering.reset();
    passkey.reset();
    setMethod(value);
  };
  return (
    <SignInCard>
      {ended === true && (
        <p role="status" className="rounded-md bg-warn-soft px-3 py-2 text-sm">
          Your session has ended. Sign in again to go on where you were.
        </p>
      )}
      {provider !== null && (
        <a
          href={`${BASE_PATH}oauth/sign-in?${new URLSearchParams({ from })}`}
          className="rounded-md border border-line-strong px-3 py-2 text-center text-sm font-medium hover:bg-sunken"
        >
          Sign in with {provider.name}
        </a>
      )}
      {passkey.isPossible && (
        <>
          <Button needs={null} busy={passkey.isPending} onClick={passkey.choose}>
            Sign in with a passkey
          </Button>
          <ProblemNote error={passkey.error} />
        </>
      )}
      <ProviderReturn />
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

/**
 * Sign-in with a passkey: by a button, and where `isOffered` among what the browser fills into the
 * field for the e-mail address.
 */
function usePasskey(isOffered: boolean, onEntered: (session: Session) => void) {
  const isPossible = useSignInMethods()?.passkey === true && canUsePasskeys();
  const { mutate, isIdle, isPending, error, reset } = useMutation({
    mutationFn: (enter: () => Promise<Session>) => enter(),
    onSuccess: (session) => {
      rememberMethod('password');
      onEntered(session);
    },
  });
  const isOpen = isPossible && isOffered && isIdle;
  useEffect(() => (isOpen ? offerPasskeys(mutate) : undefined), [isOpen, mutate]);
  return { isPossible, isPending, error, reset, choose: () => mutate(signInWithPasskey) };
}

/** By the reason that the server has put into the link; it shows no text of a link. */
const REFUSALS: Readonly<Record<string, string>> = {
  denied: 'The sign-in was refused at the provider.',
  expired: 'The sign-in took too long, or was begun in another browser. Try again.',
  unverified: 'The provider does not say that your e-mail address is verified. Ask its administrator.',
  domain: 'Addresses of your domain cannot sign in here.',
  not_invited:
    'No account here knows your e-mail address. If you are invited, open the link of your invitation and sign in there; otherwise ask an admin of your account to invite you.',
  other_address:
    'The invitation is for another e-mail address. Sign in at the provider with that one, or ask for an invitation for yours.',
  invitation_ended: 'This invitation was used or revoked, or has expired. Ask for another one.',
  full: 'The account has as many members as it may. Ask an admin of it to remove one, then open the invitation again.',
  failed: 'The provider did not answer as it should. Try again, or tell the operator of this server.',
};

/** A sign-in at the provider ends here: with a session, or with why there is none. */
function ProviderReturn() {
  const [hash] = useState(() => new URLSearchParams(location.hash.slice(1)));
  const navigate = useNavigate();
  const taking = useMutation({
    mutationFn: async (id: string) => {
      await takeSession(id);
      const joined = hash.get('account');
      if (joined !== null) await switchAccount(joined);
    },
    onSuccess: () => {
      rememberMethod('password');
      const from = hash.get('from') ?? '/';
      void navigate({ to: /^\/(?![/\\])/.test(from) ? from : '/', hash: '', replace: true });
    },
  });
  const id = hash.get('session');
  const { mutate } = taking;
  useEffect(() => {
    if (id !== null) mutate(id);
  }, [id, mutate]);
  const refused = hash.get('refused');
  return (
    <>
      {refused !== null && (
        <p role="alert" className="rounded-md bg-warn-soft px-3 py-2 text-sm">
          {REFUSALS[refused] ?? REFUSALS['failed']}
        </p>
      )}
      <ProblemNote error={taking.error} />
    </>
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
        // The last word: browsers offer passkeys here too.
        autoComplete="username webauthn"
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
      <Link to="/forgotten-password" className="text-sm text-accent underline">
        Forgot your password?
      </Link>
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
