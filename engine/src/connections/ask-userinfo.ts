import { fillUrl } from './apps/fill-template.ts';
import { createRedactor, type SecretValue } from '../secrets/index.ts';
import type { AskProvider, ProviderAnswer } from './provider-request.ts';
import { printable } from './token-answer.ts';
import type { OAuthParty } from './token-endpoint.ts';

const MAX_REASON_CHARS = 100;

/**
 * `refused`: the provider says that the credentials are not valid. `unclear`: it said nothing about
 * them.
 */
export type Proof =
  | { kind: 'answered'; body: Record<string, unknown>; detail: string }
  | { kind: 'refused' | 'unclear'; detail: string };

/**
 * Asks the provider for the owner of a token. The result never contains `secrets`, which include
 * the token.
 */
export async function askUserinfo(
  ask: AskProvider,
  party: OAuthParty,
  accessToken: string,
  secrets: readonly SecretValue[],
): Promise<Proof> {
  const { userinfoUrl } = party.oauth;
  if (userinfoUrl === undefined) return { kind: 'unclear', detail: 'The app has no endpoint to test its keys' };
  const filled = fillUrl(userinfoUrl, party.fields);
  if (!filled.ok) return { kind: 'unclear', detail: `The field ${filled.field} ${filled.message}` };
  const headers = { authorization: `Bearer ${accessToken}` };
  return proofOf(filled.url.host, await ask(party.accountId, { method: 'GET', url: filled.url, headers }), secrets);
}

/**
 * Placeholders of redacted secrets. Their names may contain words such as "token" that the provider
 * did not write.
 */
const MARKS = /\[secrets?:[^\]]*\]/g;

/** 403 is not a refusal: the credentials are known, and may do other things. */
export async function proofOf(host: string, answer: ProviderAnswer, secrets: readonly SecretValue[]): Promise<Proof> {
  if (!answer.ok) return { kind: 'unclear', detail: answer.message };
  const { status, body } = answer;
  const detail = `${host} answered ${status}`;
  if (status === 401) return { kind: 'refused', detail };
  // Slack and its imitators answer 200 to everything.
  if (status === 200 && body['ok'] === false) {
    const said = [body['error'], body['description']].find((text) => typeof text === 'string') ?? '';
    // Before it is cut: a part of a secret would not be found.
    const why = printable((await withoutSecrets(said, secrets)).slice(0, MAX_REASON_CHARS));
    return /auth|token|revoked|inactive/.test(why.replaceAll(MARKS, ''))
      ? { kind: 'refused', detail: `${detail}: ${why}` }
      : { kind: 'unclear', detail: `${detail}: ${why}` };
  }
  return status >= 200 && status <= 299 ? { kind: 'answered', body, detail } : { kind: 'unclear', detail };
}

/**
 * Keys may have thousands of lines, which take the thread a tenth of a second to get ready for in
 * one piece.
 */
async function withoutSecrets(words: string, secrets: readonly SecretValue[]): Promise<string> {
  const redactor = createRedactor(secrets);
  await redactor?.ready();
  return redactor?.text(words) ?? words;
}
