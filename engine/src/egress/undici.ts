import { createRequire } from 'node:module';
import type * as undici from 'undici';

const load = createRequire(import.meta.url);

/*
 * The parts of undici that egress uses. Its index loads caches, mocks, sockets and fetch as well:
 * half a hundred more files at each start. Users import types from the package itself.
 */
export const Client = load('undici/lib/dispatcher/client.js') as typeof undici.Client;
export const buildConnector = load('undici/lib/core/connect.js') as typeof undici.buildConnector;
export const { ConnectTimeoutError, HeadersOverflowError } = load('undici/lib/core/errors.js') as typeof undici.errors;
