/** The form of a webhook's body; see deliveryContent. */
export const WEBHOOK_FORMATS = ['raw', 'envelope', 'cloudevents', 'cloudevents-binary'] as const;

/** How requests are signed: with a secret that both sides have, or with a private key. */
export const SIGNATURE_SCHEMES = ['v1', 'v1a'] as const;

export const WEBHOOK_METHODS = ['POST', 'PUT'] as const;
