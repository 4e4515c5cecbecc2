export { checkKeys, claimKey } from './check-keys.ts';
export { createSecretCount, tooManySecrets } from './count-secrets.ts';
export { readEncryptionKeys } from './encryption-keys.sql.ts';
export {
  createKeptRedactors,
  createUnkeptRedactor,
  type KeptRedactor,
  readyRedactor,
  type UnkeptRedactor,
} from './kept-redactors.ts';
export type { SecretValue } from './make-forms.ts';
export { ENCRYPTION_KEY_FORM, isEncryptionKey, KEY_FILE, loadMasterKeys } from './master-key.ts';
export {
  ARCHIVED_KINDS,
  type ArchivedKind,
  countSealedOtherwise,
  readSealedKeyUse,
  readSealedValuesOf,
  type SealedValue,
} from './read-sealed-values.sql.ts';
export { createRedactor, type Redactor } from './redactor.ts';
export { replaceSealedValuesIn } from './replace-sealed-values.sql.ts';
export { type RotatedSecrets, rotateSecrets } from './rotate-secrets.ts';
export { bytesInSealed, createSealer, sealedBytesOf, type Sealer, SealError, underCurrentKey } from './seal.ts';
