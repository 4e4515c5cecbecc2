import type { AppDefinition, AppOAuth } from '../../contract/index.ts';

const SCOPES = 'https://www.googleapis.com/auth/';

export const googleApps: readonly AppDefinition[] = [
  googleApp('google_sheets', 'Google Sheets', ['spreadsheets', 'drive']),
  googleApp('google_drive', 'Google Drive', ['drive']),
  googleApp('google_docs', 'Google Docs', ['documents', 'drive']),
  googleApp('google_calendar', 'Google Calendar', ['calendar']),
  googleApp('google_forms', 'Google Forms', ['forms.body', 'forms.responses.readonly', 'drive']),
  googleApp('google_tasks', 'Google Tasks', ['tasks']),
  googleApp('google_contacts', 'Google Contacts', ['contacts']),
  googleApp('gmail', 'Gmail', ['gmail.modify', 'gmail.settings.basic']),
  googleApp('youtube_data_api', 'YouTube', ['youtube', 'youtube.upload']),
];

function googleApp(slug: string, name: string, scopes: readonly string[]): AppDefinition {
  return {
    slug,
    name,
    docsUrl: 'https://developers.google.com/identity/protocols/oauth2/web-server',
    authType: 'oauth2',
    fields: [],
    oauth: googleOAuth(scopes.map((scope) => SCOPES + scope)),
  };
}

/** Without both parameters Google gives no refresh token, or one at the first consent alone. */
function googleOAuth(scopes: readonly string[]): AppOAuth {
  return {
    authorizeUrl: 'https://accounts.google.com/o/oauth2/v2/auth',
    tokenUrl: 'https://oauth2.googleapis.com/token',
    revokeUrl: 'https://oauth2.googleapis.com/revoke',
    userinfoUrl: 'https://openidconnect.googleapis.com/v1/userinfo',
    scopes: ['openid', 'email', ...scopes],
    pkce: true,
    tokenAuth: 'body',
    authorizeParameters: { access_type: 'offline', prompt: 'consent' },
    values: { oauth_uid: 'userinfo.sub' },
  };
}
