import { type AppDefinition, isSecretField } from '../contract/index.ts';
import type { SecretValue } from '../secrets/index.ts';

/** The secrets of a connected account, sealed as JSON text. */
export interface StoredCredentials {
  /** Values of the app's fields. */
  fields: Record<string, string>;
  oauth?: OAuthTokens;
}

export interface OAuthTokens {
  accessToken: string;
  refreshToken?: string;
  /** The client that they were given to. */
  clientId: string;
  /** Further keys of `$auth` (AppOAuth.values), `oauth_uid` among them. */
  values: Record<string, unknown>;
}

/** `$auth`, as components see it. */
export function authOf(credentials: StoredCredentials): Record<string, unknown> {
  const { fields, oauth } = credentials;
  if (oauth === undefined) return { ...fields };
  return {
    ...fields,
    ...oauth.values,
    oauth_access_token: oauth.accessToken,
    ...(oauth.refreshToken === undefined ? {} : { oauth_refresh_token: oauth.refreshToken }),
    oauth_client_id: oauth.clientId,
  };
}

/** Values that must not leave a run; they are shown as `[secret:<prop>.<key>]`. */
export function secretsOf(prop: string, app: AppDefinition, credentials: StoredCredentials): SecretValue[] {
  const { fields, oauth } = credentials;
  const ofFields = app.fields
    .filter((field) => isSecretField(app, field))
    .map((field) => ({ name: `${prop}.${field.name}`, value: fields[field.name] }));
  return [
    ...ofFields,
    { name: `${prop}.oauth_access_token`, value: oauth?.accessToken },
    { name: `${prop}.oauth_refresh_token`, value: oauth?.refreshToken },
  ].filter(({ value }) => value !== undefined);
}
