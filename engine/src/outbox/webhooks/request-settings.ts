import type {
  RequestOptions,
  ShownAuth,
  ShownRequest,
  WebhookAuth,
  WebhookRequestSettings,
} from '../../contract/index.ts';
import type { Sealer } from '../../secrets/index.ts';
import type { WebhookRow } from './read-webhooks.sql.ts';
import type { WebhookChange } from './update-webhook.sql.ts';

/** The part of a change that says how requests are made, with its secrets sealed. */
export function sealedRequest(
  sealer: Sealer,
  accountId: string,
  { method, caCertificate, clientCertificate, clientKey, auth }: WebhookRequestSettings,
): Pick<WebhookChange, 'options' | 'sealedAuth' | 'sealedClientKey'> {
  const options = {
    // The default is not stored, and that of a node of the previous version.
    ...(method === undefined ? {} : { method: method === 'POST' ? null : method }),
    ...(caCertificate === undefined ? {} : { caCertificate }),
    ...(clientCertificate === undefined ? {} : { clientCertificate }),
  };
  const seal = (text: string | null) => (text === null ? null : sealer.seal(accountId, text));
  return {
    ...(Object.keys(options).length === 0 ? {} : { options }),
    ...(auth === undefined ? {} : { sealedAuth: seal(auth && JSON.stringify(auth)) }),
    ...(clientKey === undefined ? {} : { sealedClientKey: seal(clientKey) }),
  };
}

/** The same of a webhook that is made. */
export function newRequest(sealer: Sealer, accountId: string, settings: WebhookRequestSettings) {
  const { options = {}, sealedAuth = null, sealedClientKey = null } = sealedRequest(sealer, accountId, settings);
  const given = Object.entries(options).filter(([, value]) => value !== null);
  return {
    requestOptions: Object.fromEntries(given) as RequestOptions,
    requestAuth: sealedAuth,
    clientKey: sealedClientKey,
  };
}

export function shownRequest(sealer: Sealer, { accountId, requestOptions, requestAuth }: WebhookRow): ShownRequest {
  const auth = requestAuth === null ? undefined : (JSON.parse(sealer.open(accountId, requestAuth)) as WebhookAuth);
  return { ...requestOptions, ...(auth === undefined ? {} : { auth: withoutSecrets(auth) }) };
}

function withoutSecrets(auth: WebhookAuth): ShownAuth {
  switch (auth.type) {
    case 'basic':
      return { type: auth.type, username: auth.username };
    case 'bearer':
      return { type: auth.type };
    case 'oauth2_client_credentials': {
      const { clientSecret: _, ...shown } = auth;
      return shown;
    }
  }
}
