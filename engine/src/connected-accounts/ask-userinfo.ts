import { fillUrl } from '../apps/fill-template.ts';
import type { AskProvider, ProviderAnswer } from './provider-request.ts';
import { printable } from './token-answer.ts';
import type { OAuthParty } from './token-endpoint.ts';

const MAX_REASON_CHARS = 100;

/** `refused`: the provider says that the credentials are not valid. `unclear`: it said nothing about them. */
export type Proof =
  | { kind: 'answered'; body: Record<string, unknown>; detail: string }
  | { kind: 'refused' | 'unclear'; detail: string };

/** Asks who the owner of a token is. */
export async function askUserinfo(ask: AskProvider, party: OAuthParty, accessToken: string): Promise<Proof> {
  const { userinfoUrl } = party.oauth;
  if (userinfoUrl === undefined) return { kind: 'unclear', detail: 'The app has nothing to ask' };
  const filled = fillUrl(userinfoUrl, party.fields);
  if (!filled.ok) return { kind: 'unclear', detail: `The field ${filled.field} ${filled.message}` };
  const headers = { authorization: `Bearer ${accessToken}` };
  return proofOf(filled.url.host, await ask(party.accountId, { method: 'GET', url: filled.url, headers }));
}

/** 403 is not a refusal: the credentials are known, and may do other things. */
export function proofOf(host: string, answer: ProviderAnswer): Proof {
  if (!answer.ok) return { kind: 'unclear', detail: answer.message };
  const { status, body } = answer;
  const detail = `${host} answered ${status}`;
  if (status === 401) return { kind: 'refused', detail };
  // Slack and those who copied it answer 200 to everything.
  if (status === 200 && body['ok'] === false) {
    const said = [body['error'], body['description']].find((text) => typeof text === 'string');
    const why = printable((said ?? '').slice(0, MAX_REASON_CHARS));
    return /auth|token|revoked|inactive/.test(why)
      ? { kind: 'refused', detail: `${detail}: ${why}` }
      : { kind: 'unclear', detail: `${detail}: ${why}` };
  }
  return status >= 200 && status <= 299 ? { kind: 'answered', body, detail } : { kind: 'unclear', detail };
}
