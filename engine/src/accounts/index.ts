export { type AccountRoom, createAccountRoom } from './account-room.ts';
export { readAccountState } from './accounts.sql.ts';
export { createAccounts } from './accounts.ts';
export { deletePeopleWithoutAccount, deleteSomeOfAccount, deletionJob } from './delete-account.sql.ts';
export { ensureFirstAccount, type FirstAccount } from './ensure-first-account.ts';
export { type HistoryCount, historyRowBytes, textBytes } from './history-row-bytes.ts';
export { expireIdempotencyKeys } from './idempotency-keys.sql.ts';
export { createIdempotency } from './idempotency.ts';
export { createKeyCache, type KeyCache } from './key-cache.ts';
export { createKeyUses, type KeyUses } from './key-uses.ts';
export { createKnownLimits } from './known-limits.ts';
export { createLimitsCache, type LimitsCache } from './limits-cache.ts';
export { overLimit } from './over-limit.ts';
export {
  checkCodeRoom,
  codeBytes,
  codeBytesOfRow,
  type CodeLimits,
  insertCode,
  noteUnusedCode,
} from './require-code-room.sql.ts';
export {
  checkConfigurationRoom,
  checkRoom,
  jsonBytes,
  lockAccount,
  requireConfigurationRoom,
  requireRoom,
} from './require-room.sql.ts';
export { generateSessionToken, hashToken, readSessionBearer } from './session-token.ts';
export { createSessions } from './sessions.ts';
