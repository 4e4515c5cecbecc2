import type {
  AuthenticationResponseJSON,
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
} from '@simplewebauthn/browser';
import { api, enterWithPasskey, type Schemas } from './client.ts';
import type { Session } from './session.ts';

/** The talk with authenticators comes when a page needs it. */
const load = () => import('@simplewebauthn/browser');

/** Renewed while the page waits: the server takes a challenge for five minutes. */
const RENEW_MS = 4 * 60_000;

export const canUsePasskeys = (): boolean => typeof globalThis.PublicKeyCredential === 'function';

/** Thrown where the browser, or the person, made no answer: says what to do. */
class PasskeyError extends Error {
  override readonly name = 'PasskeyError';
}

/** Lets the person choose a passkey. Throws PasskeyError, and HeadwaterProblem as `signIn`. */
export async function signInWithPasskey(): Promise<Session> {
  const { startAuthentication } = await load();
  const { flow, optionsJSON } = await beginSignIn();
  const response = await startAuthentication({ optionsJSON }).catch(explain(optionsJSON.rpId));
  return enter(flow, response);
}

/**
 * Offers passkeys among what the browser fills into the field for the e-mail address, until the
 * returned function is called. `onChosen` gets the sign-in with the one that the person chose.
 */
export function offerPasskeys(onChosen: (enter: () => Promise<Session>) => void): () => void {
  let isOffered = true;
  let renewal: ReturnType<typeof setTimeout> | undefined;
  async function offer(): Promise<void> {
    const { browserSupportsWebAuthnAutofill, startAuthentication } = await load();
    if (!(await browserSupportsWebAuthnAutofill())) return;
    const { flow, optionsJSON } = await beginSignIn();
    if (!isOffered) return;
    // Another offer takes the place of this one.
    renewal = setTimeout(begin, RENEW_MS);
    const response = await startAuthentication({ optionsJSON, useBrowserAutofill: true });
    if (isOffered) onChosen(() => enter(flow, response));
  }
  // Without an offer the page is as it was: the button and the password are there.
  const begin = () => void offer().catch(() => undefined);
  begin();
  return () => {
    isOffered = false;
    clearTimeout(renewal);
    void load().then(({ WebAuthnAbortService }) => WebAuthnAbortService.cancelCeremony());
  };
}

/** Throws PasskeyError; HeadwaterProblem where the password is needed or wrong. */
export async function addPasskey(name: string, currentPassword: string): Promise<Schemas['Passkey']> {
  const { startRegistration } = await load();
  const proof = currentPassword === '' ? {} : { current_password: currentPassword };
  const { data } = await api.post('/v1/users/me/passkeys/options', { body: proof });
  const optionsJSON = data.options as unknown as PublicKeyCredentialCreationOptionsJSON;
  const response = await startRegistration({ optionsJSON }).catch(explain(optionsJSON.rp.id));
  const body = { flow: data.flow, name, response: { ...response, response: { ...response.response } } };
  const added = await api.post('/v1/users/me/passkeys', { body });
  return added.data;
}

async function beginSignIn() {
  const { data } = await api.post('/v1/session/passkey/options', { body: {} });
  return { flow: data.flow, optionsJSON: data.options as unknown as PublicKeyCredentialRequestOptionsJSON };
}

// Copied for TypeScript: an interface has no index signature, which the API's schema asks for.
const enter = (flow: string, response: AuthenticationResponseJSON) =>
  enterWithPasskey({ flow, response: { ...response, response: { ...response.response } } });

/** In words of ours: those of browsers are for developers. */
function explain(host = '') {
  return (cause: unknown): never => {
    const name = cause instanceof Error ? cause.name : '';
    throw new PasskeyError(sayWhy(name, host), { cause });
  };
}

function sayWhy(name: string, host: string): string {
  if (name === 'InvalidStateError')
    return 'This device has a passkey of yours already. Sign in with that one, or add one of another device.';
  if (name === 'SecurityError') return `Passkeys are for ${host}: open Headwater there.`;
  if (name === 'NotAllowedError' || name === 'AbortError')
    return 'No passkey was used: it was cancelled, took too long, or there is none for this server. Try again.';
  return 'This device cannot make or use passkeys that ask who you are. Try another one.';
}
