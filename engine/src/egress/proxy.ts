import { type ClientRequest, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { isIPv6, type Socket } from 'node:net';
import { LIMITS } from '@headwater/shared';
import { EgressProxyFailed } from './refusal.ts';
import { ConnectTimeoutError } from './undici.ts';

/** The proxy through which an operator's network lets requests out. */
export interface EgressProxy {
  isSecure: boolean;
  /** Without brackets. */
  host: string;
  port: number;
  /** Value of the proxy-authorization header. */
  authorization?: string;
}

/**
 * Reads `http(s)://[user:password@]host:port`. Throws RangeError, which does not repeat the text:
 * it may hold a password.
 */
export function parseProxy(text: string): EgressProxy {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.hostname === '' || url.pathname !== '/') {
    throw new RangeError('The proxy must be given as http://host:port or https://host:port');
  }
  const isSecure = url.protocol === 'https:';
  const credentials = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`;
  return {
    isSecure,
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: Number(url.port || (isSecure ? 443 : 80)),
    ...(credentials === ':' ? {} : { authorization: `Basic ${Buffer.from(credentials).toString('base64')}` }),
  };
}

export interface TunnelTarget {
  /** Name from the tenant, for messages. */
  hostname: string;
  /** Checked addresses, tried in this order. */
  addresses: readonly string[];
  port: number;
  /** For all of them together. */
  timeoutMs: number;
}

/**
 * Asks the proxy for a connection (CONNECT) to an address that was checked here. The proxy gets no
 * name, because it would look up its addresses again. Passes a socket to the target to `done`; the
 * returned function cancels.
 */
export function openTunnel(
  proxy: EgressProxy,
  target: TunnelTarget,
  done: (error: Error | null, socket: Socket | null) => void,
): () => void {
  let asking: ClientRequest | undefined;
  let isOver = false;
  const end = (error: Error | null, socket: Socket | null) => {
    if (isOver) return socket?.destroy();
    isOver = true;
    clearTimeout(timer);
    if (error !== null) asking?.destroy();
    done(error, socket);
  };
  const timer = setTimeout(() => end(new ConnectTimeoutError(), null), target.timeoutMs);
  const next = (index: number, failure: Error | null) => {
    const address = target.addresses[index];
    if (address === undefined) return end(failure, null);
    asking = askProxy(proxy, target, address, (error, socket) => {
      if (isOver || error === null) end(error, socket);
      else next(index + 1, error);
    });
  };
  next(0, null);
  return () => end(new ConnectTimeoutError(), null);
}

function askProxy(
  proxy: EgressProxy,
  target: TunnelTarget,
  address: string,
  done: (error: Error | null, socket: Socket | null) => void,
): ClientRequest {
  const authority = `${isIPv6(address) ? `[${address}]` : address}:${target.port}`;
  const asking = (proxy.isSecure ? requestHttps : requestHttp)({
    host: proxy.host,
    port: proxy.port,
    method: 'CONNECT',
    path: authority,
    agent: false,
    maxHeaderSize: LIMITS.maxFetchResponseHeaderBytes,
    headers: {
      host: authority,
      ...(proxy.authorization === undefined ? {} : { 'proxy-authorization': proxy.authorization }),
    },
  });
  asking.on('connect', (response, socket, head) => {
    if (response.statusCode === 200) {
      if (head.length > 0) socket.unshift(head);
      return done(null, socket as Socket);
    }
    socket.destroy();
    done(new EgressProxyFailed(`could not connect to ${target.hostname} (status ${response.statusCode})`), null);
  });
  asking.on('error', (error: NodeJS.ErrnoException) => {
    done(new EgressProxyFailed(`cannot be used (${error.code ?? 'it broke off'})`), null);
  });
  asking.end();
  return asking;
}
