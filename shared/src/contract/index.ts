/*
 * One schema for each resource: what answers have of it, what the OpenAPI document says about it,
 * and the types of the engine, the API and the command line. Only the API needs them at run time.
 */
export { filterField } from './filter.ts';
export { secondsField } from './fields.ts';
export type { CamelCase, RecordOf, Shown } from './record.ts';
export {
  autoSubscriptionSchema,
  type AutoSubscriptionRecord,
  type Subscription,
  subscriptionSchema,
  type SubscriptionRecord,
} from './subscription.ts';
