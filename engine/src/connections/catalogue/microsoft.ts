import type { AppDefinition } from '../../contract/index.ts';

export const microsoftApps: readonly AppDefinition[] = [
  microsoftApp('microsoft_outlook', 'Microsoft Outlook', ['Mail.ReadWrite', 'Mail.Send', 'Contacts.ReadWrite']),
  microsoftApp('microsoft_outlook_calendar', 'Microsoft Outlook Calendar', ['Calendars.ReadWrite']),
  microsoftApp('microsoft_onedrive', 'Microsoft OneDrive', ['Files.ReadWrite.All']),
  microsoftApp('microsoft_excel', 'Microsoft Excel', ['Files.ReadWrite.All']),
  microsoftApp('microsoft_teams', 'Microsoft Teams', ['Chat.ReadWrite', 'ChannelMessage.Send', 'Team.ReadBasic.All']),
];

function microsoftApp(slug: string, name: string, scopes: readonly string[]): AppDefinition {
  return {
    slug,
    name,
    docsUrl: 'https://learn.microsoft.com/entra/identity-platform/v2-oauth2-auth-code-flow',
    authType: 'oauth2',
    fields: [],
    oauth: {
      authorizeUrl: 'https://login.microsoftonline.com/common/oauth2/v2.0/authorize',
      tokenUrl: 'https://login.microsoftonline.com/common/oauth2/v2.0/token',
      userinfoUrl: 'https://graph.microsoft.com/v1.0/me',
      scopes: ['offline_access', 'User.Read', ...scopes],
      pkce: true,
      tokenAuth: 'body',
      rotatesRefreshTokens: true,
      values: { oauth_uid: 'userinfo.id' },
    },
  };
}
