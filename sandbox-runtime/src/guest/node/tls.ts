import { notAvailable } from './errors.ts';
import { Duplex } from './stream.ts';
import { makeUnavailable } from './unavailable.ts';

function SocketHandle(): void {}

/** `tls`. A TLSSocket can be made, because packages look at what one is made of; it cannot be connected to anything. */
export function makeTls(): Record<string, unknown> {
  class TLSSocket extends Duplex {
    // http2-wrapper, which got loads for every request, reads this when it is loaded.
    readonly _handle = { _parentWrap: { constructor: SocketHandle } };

    connect(): never {
      throw notAvailable('tls.TLSSocket', 'components reach other hosts by HTTP only; use https or fetch');
    }
  }
  return {
    ...makeUnavailable('tls'),
    TLSSocket,
    rootCertificates: [],
    checkServerIdentity: () => undefined,
    getCiphers: () => [],
  };
}
