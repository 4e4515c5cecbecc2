export type {
  AccountLimitsRecord,
  AccountRecord,
  AccountSummary,
  ApiKeyRecord,
  AttemptRecord,
  ComponentChoice,
  ComponentRecord,
  DeliveryRecord,
  EndpointRoute,
  Engine,
  EventRecord,
  Page,
  PageRequest,
  Principal,
  RunRecord,
  RunResponse,
  SourceCreate,
  SourceRecord,
  SourceUpdate,
  SubscriptionKey,
  SubscriptionRecord,
  UserRecord,
  WebhookCreate,
  WebhookRecord,
  WebhookUpdate,
} from './contract.ts';
export type { EngineOptions, Role } from './engine-options.ts';
export { type RotatedSecrets, rotateSecrets } from './rotate-secrets.ts';
export { createRedactor, type SecretValue } from './secrets/redactor.ts';
export { type StartedEngine, startEngine } from './start-engine.ts';
