import { GuestEventTarget } from './event-target.ts';
import { notAvailable } from './node/errors.ts';
import { asInterface } from './web-idl.ts';

/**
 * `WebSocket`, as in Node a global, since clients (Supabase) look for one when they are made. It
 * cannot be opened.
 */
export class GuestWebSocket extends GuestEventTarget {
  static readonly CONNECTING = 0;
  static readonly OPEN = 1;
  static readonly CLOSING = 2;
  static readonly CLOSED = 3;

  constructor() {
    super();
    throw notAvailable('WebSocket', 'components reach other hosts by HTTP only; use http, https or fetch');
  }
}
asInterface(GuestWebSocket, 'WebSocket');
