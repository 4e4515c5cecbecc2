import type { OAuthOutcome } from '@headwater/engine';

/** What a person sees at the end of a flow. Everything in it is text of others: none of it is markup here. */
export function oauthPage(outcome: OAuthOutcome): string {
  if (!outcome.ok) return page('Not connected', [outcome.message]);
  const { account, workspace } = outcome;
  const whose = account.uid === undefined ? '' : ` (${account.uid})`;
  return page('Connected', [
    `Your ${account.app.name} account${whose} is connected to the workspace “${workspace}” as ${account.id}.`,
    'If you did not mean to do that, take the access back in the settings of that account. You can close this page.',
  ]);
}

function page(title: string, paragraphs: readonly string[]): string {
  const body = paragraphs.map((text) => `<p>${escape(text)}</p>`).join('');
  return (
    `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${escape(title)}</title>` +
    '<style>body{font:16px/1.5 system-ui,sans-serif;max-width:36rem;margin:4rem auto;padding:0 1rem}</style></head>' +
    `<body><h1>${escape(title)}</h1>${body}</body></html>`
  );
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function escape(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => ENTITIES[character] ?? '');
}
