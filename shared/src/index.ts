export { ACCOUNT_LIMITS, type AccountLimitName, type AccountLimits } from './limits/account-limits.ts';
export { accountLimits, findLimitProblems, keepKnownLimits } from './limits/decide-account-limits.ts';
export { type ExceededLimit, type OtherLimitName, platformLimit, type PlatformLimitName } from './exceeded-limit.ts';
export { ID_PREFIXES, idFloor, idTimeMs, newId, randomToken, type IdKind } from './ids.ts';
export {
  ERRORS,
  firstLimit,
  HeadwaterError,
  notFound,
  type ErrorCode,
  type Fault,
  type FieldError,
} from './errors.ts';
export {
  hasExpression,
  parsePath,
  tokenize,
  type ExpressionPath,
  type PathPart,
  type TemplatePart,
  type TokenizeOutcome,
} from './expressions/index.ts';
export {
  explainFilter,
  isChannelPattern,
  matchesChannel,
  matchFilter,
  parseFilter,
  type Filter,
  type FilterAnswer,
  type FilterJson,
  type FilterMeter,
  type FilterOutcome,
} from './filters/index.ts';
export { KEY_SCOPES, type KeyScope } from './key-scopes.ts';
export { hasRight, type Right, RIGHTS, rightsOf, type Role, ROLES, rolesWith } from './roles.ts';
export { LIMITS, PLATFORM_LIMITS } from './limits/platform-limits.ts';
export { createByteBudget, type ByteBudget } from './fairness/byte-budget.ts';
export { createFairQueue, type FairQueue } from './fairness/fair-queue.ts';
export { createPacer, type Pacer } from './fairness/pacer.ts';
export { KeptBytes } from './kept-bytes.ts';
export { createGiveWay, createPauses } from './fairness/give-way.ts';
export { findTooMany, findTooManyOfOutline, findTooManyOfRequest } from './json/json-size.ts';
export { didYouMean, nearest } from './nearest-names.ts';
export { isStorableJson } from './json/storable-json.ts';
export { isStorableText, UNSTORABLE } from './storable-text.ts';
export { isJson, isLongJson, isShortJson, readMembers } from './json/json-check.ts';
export { NDJSON_TYPE } from './media-types.ts';
export { createLimiter, inTurn, type Limiter } from './fairness/limiter.ts';
export { createActiveTenants, type ActiveTenants } from './fairness/active-tenants.ts';
export { createReadPacer, type ReadPacer } from './fairness/read-pacer.ts';
export { SIGNATURE_SCHEMES, WEBHOOK_FORMATS, WEBHOOK_METHODS } from './webhook-choices.ts';
export { eventChars } from './component.ts';
export { COMPONENT_TYPES } from './component.ts';
export type {
  ComponentDescription,
  ComponentType,
  DedupeStrategy,
  EmittedEvent,
  HookName,
  HttpEvent,
  HttpResponse,
  LogLevel,
  LogLimitName,
  LogLine,
  PropDefinition,
  RunProp,
  TimerEvent,
} from './component.ts';
