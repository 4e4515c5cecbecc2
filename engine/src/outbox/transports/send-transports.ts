import type { DueSend } from '../sends/due-send.ts';
import { orCutOff, type Transport } from '../transport.ts';
import { createEmailTransport } from './email/email-transport.ts';
import { createHttpTransport } from './http/http-transport.ts';
import { createS3Transport } from './s3/s3-transport.ts';
import type { SendTransportParts } from './send-transport-parts.ts';

type ByKind = { [Kind in DueSend['kind']]: Transport<Extract<DueSend, { kind: Kind }>> };

/** The ways out of `$.send`, by the name that a step calls. */
export function createSendTransports(parts: SendTransportParts): Transport<DueSend> {
  const byKind: ByKind = {
    http: createHttpTransport(parts),
    email: createEmailTransport(parts),
    s3: createS3Transport(parts),
  };
  return {
    attempt(send, signal) {
      const transport = byKind[send.kind] as Transport<DueSend>;
      return orCutOff(transport.attempt(send, signal), signal);
    },
  };
}
