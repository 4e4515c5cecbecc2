export type { AttemptResult } from './attempt.ts';
export { deliverLane, lanesOfWaiting } from './deliveries/deliver-lane.ts';
export { createDeliverer, type Deliverer, type DelivererOptions, type DeliveriesOf } from './deliveries/deliverer.ts';
export type { DueDelivery } from './deliveries/due-delivery.ts';
export { endAndReleaseNext, readOrdering } from './deliveries/ordered-deliveries.sql.ts';
export { releaseDeliveries } from './deliveries/release-deliveries.sql.ts';
export { workOffBacklog } from './deliveries/webhook-backlog.ts';
export { shownStatus } from './deliveries/shown-status.sql.ts';
export { createRetryPolicy, type RetryPolicy } from './retry-policy.ts';
export { createSampleReceiver } from './sample-receiver/sample-receiver.ts';
export { expireSampleRequests } from './sample-receiver/sample-requests.sql.ts';
export type { DueSend } from './sends/due-send.ts';
export { insertSends, sendLanesOf } from './sends/insert-sends.sql.ts';
export { contentOf, type NewSend, type SendContent } from './sends/new-send.ts';
export { postponeSends, releaseSends, requeueStalledSends } from './sends/release-sends.sql.ts';
export { sendLane } from './sends/send-lane.ts';
export { createSendRunner, type SendRunner } from './sends/send-runner.ts';
export { createSends } from './sends/sends.ts';
export { createAutoSubscriptions } from './subscriptions/auto-subscriptions.ts';
export { filterJson, readGivenFilter } from './subscriptions/given-filter.ts';
export { isListenerActive, isWebhook, lockListener } from './subscriptions/lock-listener.sql.ts';
export { requireListener } from './subscriptions/require-listener.ts';
export { subscribeNewEmitter } from './subscriptions/subscribe-new-emitter.sql.ts';
export { createSubscriptions, unknownEmitter, unknownListener } from './subscriptions/subscriptions.ts';
export {
  applyTransform,
  requestBefore,
  type TransformedRequest,
  transformInput,
  type TransformResult,
} from './transforms/transform-request.ts';
export type { GivenTransform, RunTransform, TransformRun, TransformsOfWebhooks } from './transforms/transform.ts';
export { deleteOldEmailCounts, takeEmail } from './transports/email/count-email.sql.ts';
export { createMailer, type Mailer, type MailOptions } from './transports/email/mailer.ts';
export { joinInboxes } from './transports/webhook/inbox.ts';
export { messageId } from './transports/webhook/sign.ts';
export { createTunnelInbox, type TunnelInbox } from './tunnels/tunnel-inbox.ts';
export { createTunnels } from './tunnels/tunnels.ts';
export { findEventOfAccount } from './webhooks/find-event-of-account.sql.ts';
export { receiverOfWebhook, type WebhookRow } from './webhooks/read-webhooks.sql.ts';
export { goesThroughLane, receiverColumns, receiverOf, type ReceiverRow } from './webhooks/receiver-columns.sql.ts';
export type { ReceiverSettings } from './webhooks/receiver-settings.ts';
export { TEST_EMITTER } from './webhooks/test-delivery.ts';
export { addNotice, deleteNotices, takeNotices } from './webhooks/webhook-notices.sql.ts';
export { createWebhooks } from './webhooks/webhooks.ts';
