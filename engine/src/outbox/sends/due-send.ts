import type { OutboxItem } from '../transport.ts';
import type { SendContent } from './new-send.ts';

/** A send that this node has leased and is to attempt. */
export type DueSend = DueRequest | DueEmail | DueUpload;

/** One call of `$.send`. */
export interface SentBy {
  id: string;
  workflowId: string;
  executionId: string;
  traceId: string;
}

/** `id`: the unit that is attempted and recorded: a send, or an upload of many sends. */
interface Due extends OutboxItem {
  nextTrigger?: 'manual';
  /** The call that its content is of; of an upload the call of each line. */
  sentBy: readonly SentBy[];
}

export interface DueRequest extends Due {
  kind: 'http';
  /** Host of the URL; empty if the URL cannot be read. */
  host: string;
  content: SendContent;
}

export interface DueEmail extends Due {
  kind: 'email';
  content: SendContent;
}

export interface DueUpload extends Due {
  kind: 's3';
  bucket: string;
  /** Name of the object, always the same for one upload: a repeat replaces the object. */
  objectKey: string;
  /** In the order of their ids. */
  contents: SendContent[];
}

/** Characters of the texts held for a send. */
export function sizeOf(send: DueSend): number {
  const contents = send.kind === 's3' ? send.contents : [send.content];
  return contents.reduce((sum, { payload, sealed = '' }) => sum + payload.length + sealed.length, 0);
}

/** The sends of one lane have one receiver. If it does not answer, no other lane slows down. */
export function laneIdOf(send: DueSend): string {
  if (send.kind === 'http') return `${send.accountId} http ${send.host}`;
  return send.kind === 's3' ? `${send.accountId} s3 ${send.bucket}` : `${send.accountId} email`;
}
