import { SENT_BYTES } from '@headwater/sandbox-runtime';
import type { Redactor, Sealer } from '../../secrets/index.ts';

type SendKind = 'http' | 'email' | 's3';

/** The stored content of a `$.send` call. */
export interface SendContent {
  /** JSON text of the argument of `$.send` without known secrets: the form that is shown. */
  payload: string;
  /** The same as it was, sealed for the account; absent where there is no secret in it. */
  sealed?: string;
}

/** A send of an execution that ends. `id`: newId('send'). */
export interface NewSend extends SendContent {
  id: string;
  accountId: string;
  workflowId: string;
  executionId: string;
  traceId: string;
  kind: SendKind;
}

/**
 * Makes what may be stored of a payload: in a request a secret has to be itself, in the database it
 * must not be readable. To be called as soon as the step has ended, before anything of it is
 * written.
 */
export async function contentOf(
  sealer: Pick<Sealer, 'seal'>,
  accountId: string,
  redactor: Pick<Redactor, 'jsonInTurns'> | undefined,
  payload: string,
): Promise<SendContent> {
  const readable = withoutBytes(payload);
  const shown = (await redactor?.jsonInTurns(readable)) ?? readable;
  return shown === payload ? { payload } : { payload: shown, sealed: sealer.seal(accountId, payload) };
}

const BYTES = `,"${SENT_BYTES}":"`;
/** The end of a payload of `$.send.http` with bytes, behind their name. */
const BASE64_END = /^[A-Za-z0-9+/]*={0,2}"\}$/;

/**
 * Bytes may hold a secret in any form. So they are kept sealed, and the shown payload has only
 * their number.
 */
function withoutBytes(payload: string): string {
  // A string within the JSON has backslashes before its quotes.
  const at = payload.lastIndexOf(BYTES);
  const base64 = at === -1 ? '' : payload.slice(at + BYTES.length);
  if (!BASE64_END.test(base64)) return payload;
  return `${payload.slice(0, at)},"data_bytes":${Buffer.byteLength(base64.slice(0, -2), 'base64')}}`;
}
