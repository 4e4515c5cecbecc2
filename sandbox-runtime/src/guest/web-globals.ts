import { GuestAbortController, GuestAbortSignal } from './abort.ts';
import { GuestBlob, GuestFile } from './blob.ts';
import { GuestCustomEvent, GuestEvent, GuestEventTarget } from './event-target.ts';
import { GuestFormData } from './form-data.ts';
import { GuestHeaders } from './headers.ts';
import { MESSAGE_CLASSES } from './message-channel.ts';
import { GuestRequest } from './request.ts';
import { GuestResponse } from './response.ts';
import { GuestTextDecoder, GuestTextEncoder } from './text-encoding.ts';
import { TRANSFORM_CLASSES } from './transform-streams.ts';
import { GuestUrl } from './url.ts';
import { GuestUrlSearchParams } from './url-search-params.ts';
import { CRYPTO_CLASSES } from './web-crypto.ts';
import { GuestWebSocket } from './web-socket.ts';
import { STREAM_CLASSES } from './web-streams.ts';

/**
 * Classes of the web platform by the names of their globals. They exist in the snapshot already.
 */
export const WEB_CLASSES: Readonly<Record<string, unknown>> = {
  AbortController: GuestAbortController,
  AbortSignal: GuestAbortSignal,
  Blob: GuestBlob,
  CustomEvent: GuestCustomEvent,
  Event: GuestEvent,
  EventTarget: GuestEventTarget,
  File: GuestFile,
  FormData: GuestFormData,
  Headers: GuestHeaders,
  Request: GuestRequest,
  Response: GuestResponse,
  TextDecoder: GuestTextDecoder,
  TextEncoder: GuestTextEncoder,
  URL: GuestUrl,
  URLSearchParams: GuestUrlSearchParams,
  WebSocket: GuestWebSocket,
  ...CRYPTO_CLASSES,
  ...MESSAGE_CLASSES,
  ...STREAM_CLASSES,
  ...TRANSFORM_CLASSES,
};
