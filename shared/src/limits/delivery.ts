/**
 * Deliveries to webhooks: their attempts, what a node holds of them, and the turns that they take.
 */
export const DELIVERY_LIMITS = {
  /**
   * Attempts that are kept of a delivery; its owner may have it made again as often as they like,
   * and the oldest go.
   */
  maxKeptDeliveryAttempts: 100,
  /** A delivery attempt: connect + answer. */
  deliveryTimeoutMs: 15_000,
  /** The longest timeout that a webhook may have for itself. */
  maxWebhookTimeoutSeconds: 30,
  /** Retries in a webhook's own schedule, and the longest wait between two. */
  maxWebhookRetries: 20,
  maxWebhookRetryWaitSeconds: 7 * 86_400,
  /** Own headers of a webhook's requests, and their names and values together. */
  maxWebhookHeaders: 32,
  maxWebhookHeaderBytes: 8_192,
  /** Bounds that a webhook may set for itself: attempts a second, and at the same time. */
  maxWebhookRatePerSecond: 10_000,
  maxWebhookInFlight: 1_024,
  /**
   * How long a webhook may fail before it is disabled: by default, and at most where it says so
   * itself.
   */
  defaultDisableAfterHours: 120,
  maxDisableAfterHours: 8_760,
  /** At which what a webhook held is sent after its start, a second. */
  maxDrainPerSecond: 10_000,
  /** Certificates of a webhook's requests, as PEM text: those it trusts, and its own. */
  maxWebhookCertificateBytes: 16_384,
  /**
   * Each text that a webhook's requests prove themselves with: a user name, a password, a token and
   * the like.
   */
  maxWebhookAuthChars: 4_096,
  /** How long a replaced secret signs beside the new one, at most and by default. */
  maxSecretOverlapHours: 168,
  defaultSecretOverlapHours: 24,
  /** Runs of transforms of one account at the same time on one node. */
  maxTransformsPerTenant: 8,
  /** Past events on which one request previews a transform. */
  maxPreviewedEvents: 10,
  /** Characters of each body that a preview shows. */
  maxPreviewedBodyChars: 65_536,
  /** Tests of webhooks of one account at the same time on a node, those that wait included. */
  maxWebhookTestsPerTenant: 16,
  /** Pending deliveries that one request makes due at once. */
  maxRetriedNow: 10_000,
  /** Bytes of an answer that lists show with the attempt; of a send's all that are kept. */
  maxStoredResponseBytes: 1_024,
  /** Bytes of a webhook's answer that are kept of each attempt. */
  maxDeliveryResponseBytes: 16_384,
  /** Characters of the headers of a request, and of an answer, that are kept of each attempt. */
  maxStoredHeaderChars: 4_096,
  /**
   * Bytes of an answer that are read beyond those and thrown away, so that the connection can be
   * used again.
   */
  maxDrainedResponseBytes: 64 * 1024,
  /** Delivery attempts at the same time on one node: to one webhook, and in all. */
  maxDeliveriesPerWebhook: 32,
  maxDeliveriesInFlight: 1_024,
  /**
   * Deliveries that one node holds in memory, waiting or in flight: of one webhook, in all, and
   * their events' bytes. One tenant has at most half of it.
   */
  maxHeldDeliveriesPerWebhook: 2_000,
  maxHeldDeliveries: 4_000,
  maxHeldDeliveryBytes: 128 * 1024 * 1024,
  /** Deliveries that one turn of a webhook's lane takes, and one of its account's. */
  deliveryLaneBatch: 64,
  accountLaneBatch: 256,
  /**
   * A turn of a lane ends once the texts of what it takes (events, payloads of sends) are larger
   * than this together.
   */
  maxClaimBytes: 1024 * 1024,
  /**
   * What is larger is taken at this pace of one tenant, while others are here (othersPresentMs).
   */
  smallClaimChars: 256 * 1024,
  claimCharsPerSecond: 8 * 1024 * 1024,
  /** Deliveries, and sends, of which larger ones begin at this pace, while others are here. */
  smallSendChars: 64 * 1024,
  sendCharsPerSecond: 16 * 1024 * 1024,
  /** A lane that found no room on a node comes back after this. */
  deliveryLaneRetryMs: 1_000,
  /**
   * Deliveries that one page of a filtered list looks through, divided among the webhooks it is of;
   * its cursor leads on from there.
   */
  maxScannedDeliveries: 20_000,
  /** Of each webhook at least, where there are many. */
  minScannedDeliveries: 200,
  /** The newest deliveries of a webhook whose attempts its stats are made of. */
  maxHealthDeliveries: 1_000,
  /** Deliveries that one request makes due again. */
  maxRedeliveries: 10_000,
  /** How long a stopping node waits for attempts in flight before it cuts them off. */
  deliveryDrainMs: 5_000,
} as const;
