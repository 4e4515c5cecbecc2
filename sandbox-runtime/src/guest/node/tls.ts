import { RefusedSocket } from './refused-socket.ts';
import { makeUnavailable } from './unavailable.ts';

function SocketHandle(): void {}

/**
 * `tls`. A TLSSocket can be made, because packages look at what one is made of; it cannot be
 * connected to anything.
 */
export function makeTls(): Record<string, unknown> {
  class TLSSocket extends RefusedSocket {
    // http2-wrapper, which got loads for every request, reads this when it is loaded.
    readonly _handle = { _parentWrap: { constructor: SocketHandle } };

    constructor() {
      super('components reach other hosts by HTTP only; use https or fetch');
    }
  }
  return {
    ...makeUnavailable('tls'),
    connect: (...args: unknown[]) => new TLSSocket().connect(...args),
    TLSSocket,
    rootCertificates: [],
    checkServerIdentity: () => undefined,
    getCiphers: () => [],
  };
}
