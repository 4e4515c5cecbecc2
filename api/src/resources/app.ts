import type { AppDefinition, AppOAuth, AppRecord } from '@headwater/engine';
import {
  type appDefinitionSchema,
  type appOAuthSchema,
  appSchema,
  oauthClientSchema,
} from '@headwater/shared/contract';
import type { z } from '@hono/zod-openapi';
import { given } from '../parameters/given.ts';
import { presenter } from './presenter.ts';

export function appDefinitionOf(slug: string, input: z.output<typeof appDefinitionSchema>): AppDefinition {
  const { auth_type: authType, fields, oauth, test } = input;
  return {
    slug,
    name: input.name,
    authType,
    fields: fields.map(given),
    ...given({ description: input.description ?? undefined, docsUrl: input.docs_url ?? undefined }),
    ...(oauth ? { oauth: oauthOf(oauth) } : {}),
    ...(test ? { test: given(test) } : {}),
  };
}

function oauthOf(oauth: z.output<typeof appOAuthSchema>): AppOAuth {
  return given({
    authorizeUrl: oauth.authorize_url,
    tokenUrl: oauth.token_url,
    revokeUrl: oauth.revoke_url,
    userinfoUrl: oauth.userinfo_url,
    scopes: oauth.scopes,
    scopeSeparator: oauth.scope_separator,
    scopeParameter: oauth.scope_parameter,
    pkce: oauth.pkce,
    tokenAuth: oauth.token_auth,
    tokenBody: oauth.token_body,
    tokenAt: oauth.token_at,
    authorizeParameters: oauth.authorize_parameters,
    lifetimeSeconds: oauth.lifetime_seconds,
    rotatesRefreshTokens: oauth.rotates_refresh_tokens,
    issuer: oauth.issuer,
    values: oauth.values,
  });
}

type App = AppDefinition & Omit<AppRecord, 'definition'>;

const presentFlatApp = presenter(appSchema, ({ slug, accountId, hidesCatalogue = false }: App) => ({
  name_slug: slug,
  private: accountId !== undefined,
  hides_catalogue: hidesCatalogue,
}));

export const presentApp = ({ definition, ...app }: AppRecord) => presentFlatApp({ ...definition, ...app });

export const presentOAuthClient = presenter(oauthClientSchema);
