import { type PlatformLimitName, platformLimit } from '@headwater/shared';
import { askLimitText } from '../bridge/ask-limit.ts';

/** Its message is the guest's error for a failed ask. */
export class AskError extends Error {
  override readonly name = 'AskError';
}

/** Throws AskError with the limit where `used` is more than that. */
export function requireWithin(name: PlatformLimitName, used: number): void {
  const limit = platformLimit(name, used);
  if (used > limit.value) throw new AskError(askLimitText(limit));
}

const MAX_MESSAGE_CHARS = 300;
const SHOWN_CODE = /^(ERR_|Z_|ZSTD_|EVP|OPENSSL)/;

/**
 * The error's reason for the guest. Messages of crypto and zlib describe the data and reveal
 * nothing about this process. Other errors could, so they stay hidden.
 */
export function describeAskError(error: unknown): string {
  if (error instanceof AskError) return error.message;
  const { code, message } = error as { code?: unknown; message?: unknown };
  if (typeof code === 'string' && typeof message === 'string' && SHOWN_CODE.test(code))
    return `${code}|${message.slice(0, MAX_MESSAGE_CHARS)}`;
  // OpenSSL's own errors have no code of Node: `error:1C800064:Provider routines::bad decrypt`.
  if (typeof message === 'string' && /^(error:[0-9A-F]+:|Unsupported state|Invalid )/.test(message))
    return message.slice(0, MAX_MESSAGE_CHARS);
  return 'The operation failed';
}
