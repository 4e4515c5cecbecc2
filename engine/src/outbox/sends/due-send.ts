import type { SendContent } from './new-send.ts';

interface Due {
  /** What is attempted and recorded as one: a send's own id, or that of an upload. */
  unitId: string;
  accountId: string;
  /** Attempts made before. */
  attemptCount: number;
}

/** A send that this node has leased and is to attempt. */
export type DueSend = Due & (DueRequest | { kind: 'email'; content: SendContent } | DueUpload);

interface DueRequest {
  kind: 'http';
  /** Of its URL; empty where there is none to be read. */
  host: string;
  content: SendContent;
}

interface DueUpload {
  kind: 's3';
  bucket: string;
  /**
   * Name of the object; always the same for one upload, so that a repeat replaces what was there.
   */
  objectKey: string;
  /** In the order of their ids. */
  contents: SendContent[];
}

/** Characters of what is held for it. */
export function sizeOf(send: DueSend): number {
  const contents = send.kind === 's3' ? send.contents : [send.content];
  return contents.reduce((sum, { payload, sealed = '' }) => sum + payload.length + sealed.length, 0);
}
